#include "reports/trace/trace_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/story.h"

namespace rankfault {
namespace {

const char* category_of(const RecordedCall& call) {
  if (is_collective(call.op())) return "collective";
  if (is_message(call.op())) return "message";
  const rf_need need = op_need(call.op());
  if (need == RF_NEED_REQUESTS || need == RF_NEED_ANY_REQUEST) return "wait";
  return call.traits().is_of_files ? "file" : "call";
}

const char* state_word(const RecordedCall& call) {
  switch (call.status()) {
    case CallStatus::kInside:
      return call.open ? "never left" : "its end is not on record";
    case CallStatus::kFailed:
      return "failed";
    case CallStatus::kPending:
      return "its work was not seen complete";
    case CallStatus::kReturned:
      break;
  }
  return "returned";
}

// Without an end on record a call lasts until its process ended, or the run.
Instant end_of_process(const ProcessView& process, const RunFacts& facts) {
  const Instant end =
      process.end.kind == EndKind::kEnded && is_known(process.end.time) ? process.end.time : facts.end;
  return std::max(end, facts.begin);
}

std::string lane_name(const ProcessView& process, uint32_t lane) {
  for (const LaneView& view : process.lanes)
    if (view.index == lane)
      return view.kind == RF_LANE_STREAM ? fmt::format("stream {:#x}", view.owner)
                                         : fmt::format("thread {}", view.owner);
  return fmt::format("lane {}", lane);
}

bool is_among(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool claims(const Finding& finding, const ProcessView& process, const RecordedCall& call) {
  return std::any_of(finding.claimed.begin(), finding.claimed.end(), [&](const ClaimedCall& c) {
    return c.rank == process.rank && c.lane == call.lane() && c.number == call.number();
  });
}

// Whether a side of the finding made this call.
bool is_of_side(const Finding& finding, const ProcessView& process, const RecordedCall& call) {
  const CommView* comm = process.comm(call.comm());
  if (!comm || comm->id != finding.comm_id || !finding.seq || call.seq() < finding.seq->from ||
      call.seq() > finding.seq->to)
    return false;
  return std::any_of(finding.sides.begin(), finding.sides.end(), [&](const Side& side) {
    return is_among(side.ranks, process.rank) && side.op == op_text(call.op());
  });
}

}  // namespace

size_t share_of_lanes(const std::vector<size_t>& calls_of_lanes, size_t most) {
  size_t low = 0, high = most;
  while (low < high) {
    const size_t middle = low + (high - low + 1) / 2;
    size_t sum = 0;
    for (const size_t calls : calls_of_lanes) sum += std::min(calls, middle);
    if (sum <= most)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

std::map<uint32_t, size_t> calls_by_lane(const ProcessView& process) {
  std::map<uint32_t, size_t> out;
  const CallHistory history(process, OpenCalls::kByStates);
  for (const RecordedCall& call : history.calls()) ++out[call.lane()];
  return out;
}

void CallTracer::write(const ProcessView& process, int pid) {
  const CallHistory history(process, OpenCalls::kByStates);
  const std::vector<RecordedCall>& calls = history.calls();
  const Instant end = end_of_process(process, facts_);
  for (size_t begin = 0; begin < calls.size();) {
    size_t behind = begin;
    while (behind < calls.size() && calls[behind].lane() == calls[begin].lane()) ++behind;
    const TraceRow row{pid, static_cast<int>(calls[begin].lane()) + 1};
    writer_.name_thread(row, lane_name(process, calls[begin].lane()));
    const size_t first = std::max(begin, behind > newest_ ? behind - newest_ : 0);
    left_out_ += first - begin;
    for (size_t i = first; i < behind; ++i) {
      const RecordedCall* next = i + 1 < behind ? &calls[i + 1] : nullptr;
      write(history, calls[i], next, end, row);
    }
    begin = behind;
  }
}

void CallTracer::write(const CallHistory& history, const RecordedCall& call, const RecordedCall* next,
                       Instant end, TraceRow row) {
  const Instant entered = call.entered();
  if (!is_known(entered)) {
    ++without_begin_;
    return;
  }
  Instant left = call.leave ? call.left() : end;
  if (!call.leave && !call.open && next && is_known(next->entered())) left = std::min(left, next->entered());
  const std::string name = op_text(call.op());
  writer_.slice(row, name, category_of(call), entered, left, args_of(history, call));
  note_findings(history.process(), call, row);
  const bool goes_on = call.leave && (call.leave->phase == RF_PHASE_ENQUEUE || call.completion);
  if (goes_on)
    writer_.work(row, name + " (work)", "work", left,
                 call.completion ? instant_of(call.completion->time_ns) : end,
                 {{"call", call.number()}, {"state", state_word(call)}});
}

Json CallTracer::args_of(const CallHistory& history, const RecordedCall& call) {
  const ProcessView& process = history.process();
  Json args = {{"op", op_text(call.op())}, {"library", call.traits().name}, {"call", call.number()}};
  const CommView* comm = process.comm(call.comm());
  if (comm) args["communicator"] = writer_.safe(comm_name(comm, facts_.timeline.world_size));
  if (const std::string* path = history.path_of(call))
    args["path"] = writer_.safe(*path);
  else if (call.seq())
    args["seq"] = call.seq();
  const rf_record* record = call.arguments();
  const bool moves_data = is_collective(call.op()) || is_message(call.op());
  if (record && moves_data && !(record->flags & RF_CALL_COUNT_UNKNOWN)) {
    args["type"] = dtype_text(record->dtype);
    args["count"] = record->count;
    if (const uint32_t bytes = dtype_bytes(record->dtype)) args["size"] = record->count * bytes;
  }
  if (record && record->peer != RF_PEER_NONE && moves_data)
    args[is_message(call.op()) ? "peer" : "root"] = record->peer;
  const uint64_t where = call.open ? call.open->return_address : call.enter ? call.enter->where : 0;
  const auto line = process.source_lines.find(where);
  const auto site = process.call_sites.find(where);
  if (line != process.source_lines.end())
    args["line"] = writer_.safe(line->second);
  else if (site != process.call_sites.end())
    args["line"] = writer_.safe(site->second);
  args["state"] = state_word(call);
  if (call.status() == CallStatus::kFailed && call.leave) args["result"] = call.result();
  return args;
}

void CallTracer::note_findings(const ProcessView& process, const RecordedCall& call, TraceRow row) {
  const std::vector<Finding>& findings = facts_.findings.all;
  for (size_t i = 0; i < findings.size(); ++i)
    if (findings[i].attempt == process.attempt &&
        (claims(findings[i], process, call) || is_of_side(findings[i], process, call)))
      of_findings_.push_back({i, row, call.entered()});
}

}  // namespace rankfault
