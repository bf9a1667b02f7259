// read_trigger: reads when a fault fires. A trigger has logical time only, and all its keys must match.
#include <fmt/format.h>

#include <limits>

#include "harness/base/suggest.h"
#include "harness/scenario/op_names.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

constexpr int kMostInt = std::numeric_limits<int>::max();
constexpr int64_t kMostInt64 = std::numeric_limits<int64_t>::max();

void read_op(MapReader& in, std::string& out) {
  if (!in.text("op", out)) return;
  if (!op_from_word(out))
    in.problems().add(fmt::format("unknown op \"{}\"{}", out, did_you_mean(out, all_op_words())),
                      in.value().find("op")->pos);
}

CommSelector read_comm_map(const Value& value, Problems& problems) {
  CommSelector out;
  MapReader in(value, "comm", problems);
  int nth = 0, has_rank = 0;
  const bool by_size = in.number("size", out.size, 1, kMostInt);
  if (in.number("has_rank", has_rank, 0, kMostInt)) out.has_rank = has_rank;
  const bool by_name = in.text("name", out.name);
  const bool by_nth = in.number("nth", nth, 1, kMostInt);
  in.finish();
  if (by_size + by_name + by_nth != 1)
    problems.add("\"comm\" must have exactly one of size (with has_rank), name and nth", value.pos);
  if (by_size) out.kind = CommSelector::Kind::kSize;
  if (by_name) out.kind = CommSelector::Kind::kNamed;
  if (by_nth) {
    out.kind = CommSelector::Kind::kOrdinal;
    out.ordinal = nth - 1;
  }
  return out;
}

CommSelector read_comm(const Value& value, Problems& problems) {
  if (value.map()) return read_comm_map(value, problems);
  CommSelector out;
  if (!is_scalar(value)) {
    problems.add(fmt::format("\"comm\" must be world, a name or a map, not {}", kind_of(value)), value.pos);
  } else if (value.text == "world") {
    out.kind = CommSelector::Kind::kWorld;
  } else if (value.text != "any") {
    out.kind = CommSelector::Kind::kNamed;
    out.name = value.text;
  }
  return out;
}

void read_file_op(MapReader& in, Trigger& out) {
  if (in.text("file_op", out.file_op)) {
    bool known = false;
    for (const std::string& word : file_op_words()) known |= word == out.file_op;
    if (!known)
      in.problems().add(
          fmt::format("unknown file_op \"{}\"{}", out.file_op, did_you_mean(out.file_op, file_op_words())),
          in.value().find("file_op")->pos);
  }
  if (in.text("path", out.path)) {
    const Value* path = in.value().find("path");
    if (out.file_op.empty() && !is_device_op(op_from_word(out.op).value_or(RF_OP_NONE)))
      in.problems().add(
          "\"path\" selects file operations or calls of CUDA: it needs \"file_op\", or \"op\" with "
          "device_alloc, device_launch or device_query",
          path->pos);
    if (out.path.size() >= RF_PATH_BYTES)
      in.problems().add(fmt::format("\"path\" is longer than {} bytes", RF_PATH_BYTES - 1), path->pos);
  }
}

void check_together(MapReader& in, const Trigger& out) {
  const Value& value = in.value();
  if (!out.file_op.empty() && !out.op.empty())
    in.problems().add("\"op\" names a library call and \"file_op\" a file operation: write only one of them",
                      value.find("file_op")->pos);
  if (!out.file_op.empty() && out.comm.kind != CommSelector::Kind::kAny)
    in.problems().add("a file operation has no communicator: leave \"comm\" out", value.find("comm")->pos);
  const rf_op op = op_from_word(out.op).value_or(RF_OP_NONE);
  const bool marked = !out.mark.empty() && (!out.file_op.empty() || (op != RF_OP_NONE && !is_mark_op(op)));
  if (marked)
    in.problems().add("\"mark\" names a mark of the workload, not a call: leave \"op\" or \"file_op\" out",
                      value.find("mark")->pos);
  if (is_file_op(op))
    in.problems().add(fmt::format("\"{}\" is a file operation: write file_op: {}", out.op, out.op),
                      value.find("op")->pos);
}

}  // namespace

const std::vector<std::string>& file_op_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (const std::string& word : all_op_words())
      if (is_file_op(*op_from_word(word))) all.push_back(word);
    return all;
  }();
  return words;
}

Trigger read_trigger(const Value& value, const std::string& owner, Problems& problems) {
  Trigger out;
  out.pos = value.pos;
  MapReader in(value, owner, problems);
  if (!value.map()) return out;
  if (value.map()->empty())
    problems.add(fmt::format("{} is empty: name an op, a step, a file_op or a mark", owner), value.pos);
  int attempt = 0;
  int64_t step = 0;
  if (in.number("attempt", attempt, 0, kMostInt)) out.attempt = attempt;
  in.text("phase", out.phase);
  if (in.number("step", step, 0, kMostInt64)) out.step = step;
  read_op(in, out.op);
  if (const Value* comm = in.find("comm")) out.comm = read_comm(*comm, problems);
  in.number("nth", out.nth, 1, kMostInt64);
  read_file_op(in, out);
  in.text("mark", out.mark);
  in.text("after_fault", out.after_fault);
  std::string edge;
  if (in.text("edge", edge)) {
    if (edge != "before" && edge != "after")
      problems.add(fmt::format("\"edge\" must be before or after, not \"{}\"", edge),
                   value.find("edge")->pos);
    out.edge = edge == "after" ? Edge::kAfter : Edge::kBefore;
  }
  in.finish();
  check_together(in, out);
  return out;
}

}  // namespace rankfault
