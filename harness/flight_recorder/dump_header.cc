// dump_header: reads the part of a dump outside its entries, and the frames of the entries' stacks.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/flight_recorder/dump_decoder.h"
#include "harness/flight_recorder/text.h"

namespace rankfault {
namespace {

constexpr size_t kMostNotes = 20;
constexpr std::string_view kCommState = "_comm_state";  // nccl_comm_state; other libraries have their own

bool parse_integer(std::string_view text, int64_t& out) {
  const auto [stop, bad] = std::from_chars(text.data(), text.data() + text.size(), out);
  return bad == std::errc() && stop == text.data() + text.size();
}

}  // namespace

void DumpDecoder::note(std::string what) {
  if (dump_.notes.size() < kMostNotes) dump_.notes.push_back(std::move(what));
}

// A string, or the text of a number or a flag in place of one.
bool DumpDecoder::loose_text(const FrValue& value, std::string& out) {
  switch (value.kind) {
    case ValueKind::kInt:
      out = std::to_string(value.integer);
      return spend(1);
    case ValueKind::kBool:
      out = value.integer ? "true" : "false";
      return spend(1);
    case ValueKind::kFloat:
      out = fmt::format("{}", value.real);
      return spend(1);
    default:
      return text(value, out);
  }
}

// A number, or a string that holds one: JSON dumps write the sequence numbers of pg_status as strings.
bool DumpDecoder::loose_integer(const FrValue& value, int64_t& out) {
  if (!value.is_text()) return integer(value, out);
  if (!parse_integer(value.text(), out)) {
    error_ = "a string where a number is expected";
    return false;
  }
  return true;
}

Result<FrDump> DumpDecoder::finish(const FrValue& root, const ValueNode* streamed, uint64_t end) {
  offset_ = end;
  if (root.kind != ValueKind::kDict)
    return refused(
        fmt::format("not a Flight Recorder dump: it is {}, and a dump is a dict", kind_word(root.kind)));
  const FrValue* entries = root.find("entries");
  if (!root.find("version")) return refused("not a Flight Recorder dump: it has no `version`");
  if (!head(root)) return refused(error_);
  if (entries && entries->kind != ValueKind::kNone) {
    if (!entries->is_sequence())
      return refused(fmt::format("entries: {} where a list is expected", kind_word(entries->kind)));
    if (streamed && entries->node != streamed) return refused("the dump has a second list of entries");
    for (uint32_t i = 0; i < entries->node->count; ++i)
      if (Status taken = entry(entries->node->items[i], offset_); !taken) return taken.error();
  }
  return std::move(dump_);
}

bool DumpDecoder::head(const FrValue& root) {
  for (uint32_t i = 0; i + 1 < root.node->count; i += 2) {
    const FrValue& key = root.node->items[i];
    const FrValue& value = root.node->items[i + 1];
    if (key.kind != ValueKind::kText) return wrong(key, "the name of a field");
    const std::string_view name = key.text();
    bool good = true;
    if (name == "version")
      good = loose_text(value, dump_.version);
    else if (name == "comm_lib_version" || name == "nccl_version")
      good = loose_text(value, dump_.comm_lib_version);
    else if (name == "hostname" || name == "host_name")
      good = loose_text(value, dump_.hostname);
    else if (name == "pg_config")
      good = groups(value);
    else if (name == "pg_status")
      good = status(value);
    else if (name.ends_with(kCommState))
      good = comm_state(value);
    if (!good) {
      error_ = fmt::format("{}: {}", name, error_);
      return false;
    }
  }
  int64_t major = 0;
  if (!parse_integer(std::string_view(dump_.version).substr(0, dump_.version.find('.')), major) ||
      major > 2) {
    error_ = fmt::format("dump version \"{}\": this reader knows 1 and 2", dump_.version);
    return false;
  }
  return true;
}

bool DumpDecoder::groups(const FrValue& value) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.kind != ValueKind::kDict) return wrong(value, "a dict");
  dump_.groups.clear();
  for (uint32_t i = 0; i + 1 < value.node->count; i += 2) {
    FrGroupConfig& group = dump_.groups.emplace_back();
    const FrValue& about = value.node->items[i + 1];
    if (!loose_text(value.node->items[i], group.key)) return false;
    if (about.kind != ValueKind::kDict) {  // only the ranks
      group.name = group.key;
      if (!ranks(about, group)) return false;
      continue;
    }
    const FrValue* name = about.find("name");
    const FrValue* desc = about.find("desc");
    const FrValue* members = about.find("ranks");
    if (name ? !loose_text(*name, group.name) : (group.name = group.key, false)) return false;
    if (desc && !loose_text(*desc, group.desc)) return false;
    if (members && !ranks(*members, group)) return false;
  }
  return true;
}

// A list of numbers, or its text "[0, 1, 2]".
bool DumpDecoder::ranks(const FrValue& value, FrGroupConfig& out) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.is_sequence()) {
    if (!spend(value.node->count)) return false;
    out.ranks.resize(value.node->count, -1);
    for (uint32_t i = 0; i < value.node->count; ++i)
      if (!integer(value.node->items[i], out.ranks[i])) return false;
    return true;
  }
  if (!value.is_text()) return wrong(value, "a list of ranks");
  std::string_view rest = value.text();
  if (!spend(rest.size())) return false;
  const auto skip = [&](std::string_view any) {
    rest.remove_prefix(std::min(rest.find_first_not_of(any), rest.size()));
  };
  skip("[( ");
  while (!rest.empty() && rest.front() != ']' && rest.front() != ')') {
    int64_t rank = 0;
    const auto [stop, bad] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
    if (bad != std::errc()) {
      out.ranks.clear();
      note(fmt::format("pg_config: the ranks of group \"{}\" are not a list of numbers", out.key));
      return true;
    }
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
    out.ranks.push_back(rank);
    skip(", ");
  }
  return true;
}

bool DumpDecoder::status(const FrValue& value) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.kind != ValueKind::kDict) return wrong(value, "a dict");
  dump_.status.clear();
  for (uint32_t i = 0; i + 1 < value.node->count; i += 2) {
    FrGroupStatus& status = dump_.status.emplace_back();
    const FrValue& about = value.node->items[i + 1];
    if (!spend(1) || !loose_integer(value.node->items[i], status.pg_id)) return false;
    if (about.kind != ValueKind::kDict) return wrong(about, "a dict");
    const FrValue* enqueued = about.find("last_enqueued_collective");
    const FrValue* started = about.find("last_started_collective");
    const FrValue* completed = about.find("last_completed_collective");
    if (enqueued && !loose_integer(*enqueued, status.last_enqueued)) return false;
    if (started && !loose_integer(*started, status.last_started)) return false;
    if (completed && !loose_integer(*completed, status.last_completed)) return false;
  }
  return true;
}

bool DumpDecoder::comm_state(const FrValue& value) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.kind != ValueKind::kDict) return wrong(value, "a dict");
  for (uint32_t i = 0; i + 1 < value.node->count; i += 2) {
    FrCommState& comm = dump_.comm_state.emplace_back();
    const FrValue& about = value.node->items[i + 1];
    if (!loose_text(value.node->items[i], comm.id)) return false;
    if (about.kind != ValueKind::kDict) return wrong(about, "a dict");
    for (uint32_t k = 0; k + 1 < about.node->count; k += 2) {
      auto& [name, text] = comm.fields.emplace_back();
      if (!loose_text(about.node->items[k], name) || !loose_text(about.node->items[k + 1], text))
        return false;
    }
  }
  return true;
}

// A list of dicts, a list of texts "#0 name from file:line", or one text with all frames.
bool DumpDecoder::frames(const FrValue& value, std::shared_ptr<const FrStack>& out) {
  if (value.kind == ValueKind::kNone) return true;
  frame_numbers_.clear();
  if (value.is_sequence()) {
    if (!spend(value.node->count)) return false;
    frame_numbers_.resize(value.node->count);
    for (uint32_t i = 0; i < value.node->count; ++i)
      if (!frame(value.node->items[i], frame_numbers_[i])) return false;
  } else if (value.is_text()) {
    for (std::string_view rest = value.text(); !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      FrValue line{ValueKind::kText, static_cast<uint32_t>(end)};
      line.chars = rest.data();
      if (end != 0 && !frame(line, frame_numbers_.emplace_back())) return false;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } else {
    return wrong(value, "a list of frames");
  }
  out = frame_table_.stack(frame_numbers_);
  return true;
}

bool DumpDecoder::frame(const FrValue& value, uint32_t& out) {
  std::string name, file;
  int64_t line = 0;
  if (value.is_text()) {
    std::string_view rest = value.text();
    if (rest.starts_with('#')) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
    const size_t from = rest.find(" from "), colon = rest.rfind(':');
    if (from != rest.npos && colon != rest.npos && colon > from &&
        parse_integer(rest.substr(colon + 1), line)) {
      append_clean(rest.substr(from + 6, colon - from - 6), file);
      rest = rest.substr(0, from);
    }
    append_clean(rest, name);
    out = frame_table_.frame(name, file, line);
    return spend(1 + value.size / 16);
  }
  if (value.kind != ValueKind::kDict) return wrong(value, "a frame");
  if (value.node->frame == 0) {
    const FrValue* where = value.find("filename");
    if (!where) where = value.find("file");
    const FrValue* function = value.find("name");
    const FrValue* number = value.find("line");
    if (function && !loose_text(*function, name)) return false;
    if (where && !loose_text(*where, file)) return false;
    if (number && !loose_integer(*number, line)) return false;
    value.node->frame = frame_table_.frame(name, file, line) + 1;
  }
  out = value.node->frame - 1;
  return true;
}

}  // namespace rankfault
