// trigger_fields: the keys of `at`: when a fault fires. A trigger has logical time only, and all its keys
// must match.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/suggest.h"
#include "harness/scenario/op_names.h"
#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

rf_op op_of(const Trigger& at) { return op_from_word(at.op).value_or(RF_OP_NONE); }

// Operations on files have a key of their own.
std::vector<std::string> words_where(bool of_files) {
  std::vector<std::string> out;
  for (const std::string& word : all_op_words())
    if (is_file_op(*op_from_word(word)) == of_files) out.push_back(word);
  return out;
}

const std::vector<std::string>& file_op_words() {
  static const std::vector<std::string> words = words_where(true);
  return words;
}

void check_op(const Trigger& at, const Key&, const Value& value, Problems& problems) {
  if (!op_from_word(at.op))
    problems.add(fmt::format("unknown op \"{}\"{}", at.op, did_you_mean(at.op, all_op_words())), value.pos);
  if (is_file_op(op_of(at)))
    problems.add(fmt::format("\"{}\" is a file operation: write file_op: {}", at.op, at.op), value.pos);
}

void check_library(const Trigger& at, const Key&, const Value& value, Problems& problems) {
  if (!library_from_word(at.library))
    problems.add(
        fmt::format("unknown library \"{}\"{}", at.library, did_you_mean(at.library, library_words())),
        value.pos);
}

void check_file_op(const Trigger& at, const Key&, const Value& value, Problems& problems) {
  const auto& known = file_op_words();
  if (std::find(known.begin(), known.end(), at.file_op) == known.end())
    problems.add(fmt::format("unknown file_op \"{}\"{}", at.file_op, did_you_mean(at.file_op, known)),
                 value.pos);
  if (!at.file_op.empty() && !at.op.empty())
    problems.add("\"op\" names a library call and \"file_op\" a file operation: write only one of them",
                 value.pos);
}

void check_path(const Trigger& at, const Key&, const Value& value, Problems& problems) {
  if (at.file_op.empty() && !is_device_op(op_of(at)))
    problems.add(
        "\"path\" selects file operations or calls of CUDA: it needs \"file_op\", or \"op\" with "
        "device_alloc, device_launch or device_query",
        value.pos);
  if (at.path.size() >= RF_PATH_BYTES)
    problems.add(fmt::format("\"path\" is longer than {} bytes", RF_PATH_BYTES - 1), value.pos);
}

void check_mark(const Trigger& at, const Key&, const Value& value, Problems& problems) {
  const rf_op op = op_of(at);
  if (!at.mark.empty() && (!at.file_op.empty() || (op != RF_OP_NONE && !is_mark_op(op))))
    problems.add("\"mark\" names a mark of the workload, not a call: leave \"op\" or \"file_op\" out",
                 value.pos);
}

bool read_comm_map(const Value& value, const Key& key, CommSelector& out, Problems& problems) {
  read_map(value, key.name, out, problems);
  const bool by_size = value.find("size"), by_name = value.find("name"), by_nth = value.find("nth");
  if (by_size + by_name + by_nth != 1)
    problems.add("\"comm\" must have exactly one of size (with has_rank), name and nth", value.pos);
  if (by_size) out.kind = CommSelector::Kind::kSize;
  if (by_name) out.kind = CommSelector::Kind::kNamed;
  if (by_nth) out.kind = CommSelector::Kind::kOrdinal;
  return true;
}

}  // namespace

const Fields<Trigger>& fields_of(const Trigger*) {
  static const Fields<Trigger> fields{
      {"attempt", &Trigger::attempt, "in this attempt, from 0"},
      {"phase", &Trigger::phase, "while this is the last marked phase"},
      {"step", &Trigger::step,
       "while this is the last step begun; for step marks and values, the step that they name"},
      {"op",
       &Trigger::op,
       "the call, or a mark of the workload (rankfault list points); any collective when op, file_op and "
       "mark "
       "are not given",
       {.shape = shape::one_of(words_where(false))},
       check_op},
      {"library",
       &Trigger::library,
       "the library whose call it is. When it is not given, the call is one that the program made: of "
       "PyTorch's "
       "nccl backend the call of c10d, and not the calls of NCCL that it makes",
       {.shape = shape::one_of(library_words())},
       check_library},
      {"comm", &Trigger::comm, "the communicator: world, or a library's own name"},
      {"nth", &Trigger::nth, "which match; the first when not given", {.least = 1}},
      {"file_op",
       &Trigger::file_op,
       "the file operation",
       {.shape = shape::one_of(file_op_words())},
       check_file_op},
      {"path",
       &Trigger::path,
       "a pattern: the file of file_op, or the caller and the function of an operation on the device",
       {},
       check_path},
      {"mark", &Trigger::mark, "a mark of this name; with op: value a value of this name", {}, check_mark},
      {"after_fault", &Trigger::after_fault,
       "after that fault has acted: its action on the same rank if it has one, else its first action"},
      {"edge",
       &Trigger::edge,
       {{"before", Edge::kBefore}, {"after", Edge::kAfter}},
       "before the call, which is the default, or after it"},
  };
  return fields;
}

bool read_value(const Value& value, const Key& key, Trigger& out, Problems& problems) {
  if (value.map() && value.map()->empty())
    problems.add(fmt::format("{} is empty: name an op, a step, a file_op or a mark", key.name), value.pos);
  if (!read_map(value, key.name, out, problems)) return false;
  if (!out.file_op.empty() && out.comm.kind != CommSelector::Kind::kAny)
    problems.add("a file operation has no communicator: leave \"comm\" out", value.find("comm")->pos);
  const rf_op op = op_of(out);
  if (!out.library.empty() &&
      (!out.file_op.empty() || !out.mark.empty() || is_mark_op(op) || is_device_op(op)))
    problems.add("\"library\" selects calls of a communication library: leave it out",
                 value.find("library")->pos);
  return true;
}

Trigger read_trigger(const Value& value, Problems& problems) {
  Trigger out;
  read_value(value, Key{{}, "at"}, out, problems);
  return out;
}

// A trigger that was written stays written, though it may say nothing.
Value write_value(const Trigger& at, const SourcePos& pos) {
  Value out = write_map(at, pos);
  if (!out.map()->empty()) return out;
  return at.pos.line > 0 ? map_value({{"nth", int_value(1, at.pos)}}, at.pos) : Value{};
}

Json shape_of(const Trigger*, const Rules&) { return shape::ref("trigger"); }

const Fields<CommSelector>& fields_of(const CommSelector*) {
  static const Fields<CommSelector> fields{
      {"size", &CommSelector::size, "one with this number of ranks", {.least = 1}},
      {"has_rank", &CommSelector::has_rank, "with size: one that has this rank, which must be the victim"},
      {"name", &CommSelector::name, "one with this name"},
      {"nth", &CommSelector::nth, "the victim's first, second ... communicator", {.least = 1}},
  };
  return fields;
}

bool read_value(const Value& value, const Key& key, CommSelector& out, Problems& problems) {
  if (value.map()) return read_comm_map(value, key, out, problems);
  if (!is_scalar(value)) {
    problems.add(fmt::format("\"comm\" must be world, a name or a map, not {}", kind_of(value)), value.pos);
    return false;
  }
  if (value.text == "world") {
    out.kind = CommSelector::Kind::kWorld;
  } else if (value.text != "any") {
    out.kind = CommSelector::Kind::kNamed;
    out.name = value.text;
  }
  return true;
}

Value write_value(const CommSelector& comm, const SourcePos& pos) {
  if (comm.kind == CommSelector::Kind::kWorld) return text_value("world", pos);
  return comm.kind == CommSelector::Kind::kAny ? Value{} : write_map(comm, pos);
}

Json shape_of(const CommSelector*, const Rules&) {
  return shape::any_of({shape::scalar(), shape_of_map(keys_of<CommSelector>())});
}

}  // namespace rankfault
