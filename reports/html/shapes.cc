#include "reports/html/shapes.h"

#include <fmt/format.h>

namespace rankfault::html {

CallClass class_of(uint16_t op) {
  if (is_message(op)) return CallClass::kMessage;
  if (rf_is_collective(op)) return CallClass::kCollective;
  if (rf_is_wait(op) || op == RF_OP_TEST) return CallClass::kWait;
  if (op >= RF_OP_INIT && op <= RF_OP_ASYNC_ERROR) return CallClass::kLife;
  if (op >= RF_OP_DEVICE_ALLOC && op <= RF_OP_DEVICE_QUERY) return CallClass::kDevice;
  if (rf_is_inner(op)) return CallClass::kFile;
  return CallClass::kOther;
}

std::string CommNames::of(const CommView& comm, int world_size) const {
  if (const auto known = told.find(comm.id); known != told.end()) return known->second;
  if ((comm.flags & RF_COMM_WORLD) != 0) return "world";
  if (!comm.name.empty()) return comm.name;
  if (static_cast<int>(comm.size) == world_size && comm.parent == 0) return "world";
  return fmt::format("group of {}", comm.size);
}

namespace {

std::string size_text(const rf_record& r) {
  if ((r.flags & RF_CALL_COUNT_UNKNOWN) != 0 || r.count == 0) return "";
  std::string text = fmt::format("{} x {}", dtype_text(r.dtype), r.count);
  if (rf_is_collective(r.op) && r.reduce_op != RF_REDUCE_OTHER)
    text += fmt::format(" {}", reduce_op_text(r.reduce_op));
  return text;
}

std::string peer_text(const rf_record& r, const CommView* comm) {
  if (r.peer == RF_PEER_ANY) return "any rank";
  if (r.peer < 0) return "";
  const size_t peer = static_cast<size_t>(r.peer);
  const int world = comm && peer < comm->members.size() ? comm->members[peer] : r.peer;
  return fmt::format("{} {}", is_message(r.op) ? "rank" : "root: rank", world);
}

std::string site_text(const ProcessView& process, uint64_t where) {
  if (const auto line = process.source_lines.find(where); line != process.source_lines.end())
    return line->second;
  const auto site = process.call_sites.find(where);
  return site == process.call_sites.end() ? "" : site->second;
}

}  // namespace

Json Shapes::describe(const CallHistory& history, const RecordedCall& call, uint32_t row) {
  const ProcessView& process = history.process();
  const rf_record* const r = call.arguments();
  const CommView* const comm = call.comm() == RF_NO_COMM ? nullptr : process.comm(call.comm());
  const std::string* const path = history.path_of(call);
  const bool sized = r && !path && dtype_bytes(r->dtype) != 0 && (r->flags & RF_CALL_COUNT_UNKNOWN) == 0;
  const uint64_t where = call.enter ? call.enter->where : call.open ? call.open->return_address : 0;
  const std::string op = (call.flags() & RF_CALL_EXECUTION) != 0
                             ? fmt::format("{} (work)", op_text(call.op()))
                             : op_text(call.op());
  return Json::array(
      {text(op), static_cast<int>(class_of(call.op())), text(comm ? names_.of(*comm, world_size_) : ""),
       sized ? static_cast<int64_t>(r->count * dtype_bytes(r->dtype)) : -1,
       text(r && !path ? size_text(*r) : ""), text(r ? peer_text(*r, comm) : ""),
       text(site_text(process, where)), text(call.traits().name), row, text(path ? *path : "")});
}

uint32_t Shapes::number_of(const CallHistory& history, const RecordedCall& call, uint32_t row) {
  Raw raw{};
  if (const rf_record* const r = call.arguments()) {
    const uint64_t where = call.enter ? call.enter->where : 0;
    raw = {r->count, where,        history.path_of(call) ? r->seq : 0,
           r->comm,  row,          r->peer,
           r->op,    r->flags,     r->library,
           r->dtype, r->reduce_op, 0,
           0};
  } else {
    const rf_state& s = *call.open;
    raw = {s.count, s.return_address, 0,       s.comm,      row, s.peer, s.op,
           s.flags, s.library,        s.dtype, s.reduce_op, 1,   0};
  }
  const auto [known, is_new] = known_.try_emplace(raw, 0);
  if (!is_new) return known->second;
  Json shape = describe(history, call, row);
  const auto [number, first] = numbers_.try_emplace(shape.dump(), static_cast<uint32_t>(table_.size()));
  if (first) table_.push_back(std::move(shape));
  return known->second = number->second;
}

}  // namespace rankfault::html
