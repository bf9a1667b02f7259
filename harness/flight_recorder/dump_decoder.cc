// dump_decoder: see dump_decoder.h. Here: the entries and their fields.
#include "harness/flight_recorder/dump_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/flight_recorder/text.h"

namespace rankfault {
namespace {

constexpr size_t kMostKept = size_t{1} << 20;  // entries; PyTorch's ring has 2000 by default
constexpr uint64_t kFreeWork = uint64_t{4} << 20;
constexpr uint64_t kWorkPerByte = 64;

// Resets an entry and keeps its memory. Shapes and types stay: reading cuts them to length, and absent()
// clears those that were not read.
void clear(FrEntry& e) {
  e.record_id = e.pg_id = e.collective_seq_id = e.p2p_seq_id = e.op_id = e.timeout_ms = -1;
  e.time_created_ns = 0;
  e.state = FrState::kUnknown;
  e.retired = e.is_p2p = false;
  for (std::string* text :
       {&e.group.name, &e.group.desc, &e.profiling_name, &e.state_word, &e.thread_name, &e.thread_id})
    text->clear();
  e.time_discovered_started_ns.reset();
  e.time_discovered_completed_ns.reset();
  e.duration_ms.reset();
  e.frames.reset();
}

}  // namespace

// The fields of an entry by their names in the dump, each with its reader.
struct EntryFields {
  using Read = bool (*)(DumpDecoder&, const FrValue&, FrEntry&);
  struct Field {
    std::string_view name;
    Read read;
  };
  static constexpr size_t kCount = static_cast<size_t>(EntryField::kCount);
  static_assert(kCount <= 32, "`seen` has a bit for each");
  static const std::array<Field, kCount> kAll;
};

const std::array<EntryFields::Field, EntryFields::kCount> EntryFields::kAll = {{
    {"frames", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.frames(v, e.frames); }},
    {"record_id", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.record_id); }},
    {"pg_id", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.pg_id); }},
    {"process_group", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.group(v, e.group); }},
    {"thread_name", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.text(v, e.thread_name); }},
    {"thread_id", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.loose_text(v, e.thread_id); }},
    {"collective_seq_id",
     [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.collective_seq_id); }},
    {"p2p_seq_id", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.p2p_seq_id); }},
    {"op_id", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.op_id); }},
    {"profiling_name",
     [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.text(v, e.profiling_name); }},
    {"time_created_ns",
     [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.time_created_ns); }},
    {"duration_ms",
     [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.duration(v, e.duration_ms); }},
    {"input_sizes", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.sizes(v, e.input_sizes); }},
    {"input_dtypes", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.words(v, e.input_dtypes); }},
    {"output_sizes", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.sizes(v, e.output_sizes); }},
    {"output_dtypes",
     [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.words(v, e.output_dtypes); }},
    {"state", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.state(v, e); }},
    {"time_discovered_started_ns",
     [](DumpDecoder& d, const FrValue& v,
        FrEntry& e) { return d.optional_time(v, e.time_discovered_started_ns); }},
    {"time_discovered_completed_ns",
     [](DumpDecoder& d, const FrValue& v,
        FrEntry& e) { return d.optional_time(v, e.time_discovered_completed_ns); }},
    {"retired", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.flag(v, e.retired); }},
    {"timeout_ms", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.integer(v, e.timeout_ms); }},
    {"is_p2p", [](DumpDecoder& d, const FrValue& v, FrEntry& e) { return d.flag(v, e.is_p2p); }},
    {"seq_id", [](DumpDecoder& d, const FrValue& v, FrEntry&) { return d.integer(v, d.seq_id_); }},
}};

DumpDecoder::DumpDecoder(const FrLimits& limits, FrFormat format, const FrSink& sink)
    : limits_(limits), sink_(sink) {
  dump_.format = format;
}

bool DumpDecoder::wrong(const FrValue& value, const char* wanted) {
  error_ = fmt::format("{} where {} is expected", kind_word(value.kind), wanted);
  return false;
}

bool DumpDecoder::spend(size_t work) {
  spent_ += work;
  if (spent_ <= kFreeWork + kWorkPerByte * offset_) return true;
  error_ = "the dump shares values in a way that makes it grow without bound";
  return false;
}

uint8_t DumpDecoder::field_of(std::string_view name) {
  for (size_t i = 0; i < EntryFields::kAll.size(); ++i)
    if (EntryFields::kAll[i].name == name) return static_cast<uint8_t>(i + 1);
  return 0;
}

bool DumpDecoder::fields(const ValueNode& dict) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i + 1 < dict.count; i += 2) {
    const FrValue& key = dict.items[i];
    if (key.kind != ValueKind::kText) return wrong(key, "the name of a field");
    size_t field = key.field;
    if (field == 0) {
      uint8_t& usual = order_[std::min<size_t>(i / 2, order_.size() - 1)];
      if (EntryFields::kAll[usual].name == key.text())
        field = usual + size_t{1};
      else if ((field = field_of(key.text())) != 0)
        usual = static_cast<uint8_t>(field - 1);
    }
    if (!spend(1)) return false;
    if (field-- == 0) continue;  // an unknown field: a newer minor version may add one
    seen |= 1u << field;
    if (!EntryFields::kAll[field].read(*this, dict.items[i + 1], entry_)) {
      error_ = fmt::format("{}: {}", EntryFields::kAll[field].name, error_);
      return false;
    }
  }
  absent(seen);
  return true;
}

void DumpDecoder::absent(uint32_t seen) {
  const auto missing = [&](EntryField field) { return (seen >> static_cast<unsigned>(field) & 1) == 0; };
  if (missing(EntryField::kInputSizes)) entry_.input_sizes.clear();
  if (missing(EntryField::kInputTypes)) entry_.input_dtypes.clear();
  if (missing(EntryField::kOutputSizes)) entry_.output_sizes.clear();
  if (missing(EntryField::kOutputTypes)) entry_.output_dtypes.clear();
}

void DumpDecoder::begin_entry(uint64_t offset) {
  offset_ = offset;
  clear(entry_);
  seq_id_ = -1;
}

Status DumpDecoder::entry(const FrValue& value, uint64_t offset) {
  begin_entry(offset);
  const bool good = value.kind == ValueKind::kDict ? fields(*value.node) : wrong(value, "a dict");
  if (!good) return refused(fmt::format("entry {} (byte {}): {}", dump_.entry_count, offset, error_));
  return hand_over();
}

Status DumpDecoder::hand_over() {
  if (seq_id_ >= 0) {
    int64_t& seq = entry_.is_p2p ? entry_.p2p_seq_id : entry_.collective_seq_id;
    if (seq < 0) seq = seq_id_;
  }
  if (!entry_.profiling_name.empty() && dump_.backend != FrBackend::kMixed) {
    const FrBackend backend = backend_of(entry_.profiling_name);
    if (dump_.backend == FrBackend::kUnknown)
      dump_.backend = backend;
    else if (backend != dump_.backend && backend != FrBackend::kUnknown)
      dump_.backend = FrBackend::kMixed;
  }
  ++dump_.entry_count;
  if (sink_) return sink_(entry_);
  if (dump_.entries.size() == kMostKept)
    return refused(fmt::format("more than {} entries: too many to be kept at once", kMostKept));
  dump_.entries.push_back(std::move(entry_));
  return Done{};
}

bool DumpDecoder::text(const FrValue& value, std::string& out) {
  out.clear();
  if (value.kind == ValueKind::kNone) return true;
  if (!value.is_text()) return wrong(value, "a string");
  append_clean(value.text(), out);
  return spend(1 + value.size / 16);
}

bool DumpDecoder::integer(const FrValue& value, int64_t& out) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.kind != ValueKind::kInt) return wrong(value, "an integer");
  out = value.integer;
  return true;
}

bool DumpDecoder::flag(const FrValue& value, bool& out) {
  if (value.kind == ValueKind::kNone) return true;
  if (value.kind != ValueKind::kBool && value.kind != ValueKind::kInt) return wrong(value, "a boolean");
  out = value.integer != 0;
  return true;
}

// JSON writes 0 where the pickle has None.
bool DumpDecoder::optional_time(const FrValue& value, std::optional<int64_t>& out) {
  int64_t time = 0;
  if (!integer(value, time)) return false;
  if (time != 0) out = time;
  return true;
}

bool DumpDecoder::duration(const FrValue& value, std::optional<double>& out) {
  if (value.kind == ValueKind::kFloat)
    out = value.real;
  else if (value.kind == ValueKind::kInt)
    out = static_cast<double>(value.integer);
  else if (value.kind != ValueKind::kNone)
    return wrong(value, "a duration");
  return true;
}

bool DumpDecoder::sizes(const FrValue& value, std::vector<std::vector<int64_t>>& out) {
  if (value.kind == ValueKind::kNone) return out.clear(), true;
  if (!value.is_sequence()) return wrong(value, "a list of shapes");
  if (!spend(value.node->count)) return false;
  out.resize(value.node->count);
  for (uint32_t i = 0; i < value.node->count; ++i) {
    const FrValue& shape = value.node->items[i];
    if (!shape.is_sequence()) return wrong(shape, "a shape");
    if (!spend(shape.node->count)) return false;
    out[i].resize(shape.node->count);
    for (uint32_t k = 0; k < shape.node->count; ++k)
      if (!integer(shape.node->items[k], out[i][k])) return false;
  }
  return true;
}

bool DumpDecoder::words(const FrValue& value, std::vector<std::string>& out) {
  if (value.kind == ValueKind::kNone) return out.clear(), true;
  if (!value.is_sequence()) return wrong(value, "a list of strings");
  if (!spend(value.node->count)) return false;
  out.resize(value.node->count);
  for (uint32_t i = 0; i < value.node->count; ++i)
    if (!text(value.node->items[i], out[i])) return false;
  return true;
}

// A pair (name, description) in a tuple or a list; the name alone before version 2.2.
bool DumpDecoder::group(const FrValue& value, FrGroupName& out) {
  if (!value.is_sequence()) return loose_text(value, out.name);
  const ValueNode& pair = *value.node;
  if (pair.count > 0 && !loose_text(pair.items[0], out.name)) return false;
  return pair.count < 2 || text(pair.items[1], out.desc);
}

bool DumpDecoder::state(const FrValue& value, FrEntry& out) {
  static constexpr std::pair<std::string_view, FrState> kKnown[] = {
      {"completed", FrState::kCompleted}, {"scheduled", FrState::kScheduled}, {"started", FrState::kStarted}};
  out.state = FrState::kUnknown;
  for (const auto& [word, known] : kKnown)
    if (value.is_text() && value.text() == word) {
      out.state = known;
      out.state_word.clear();
      return spend(1 + value.size / 16);
    }
  return text(value, out.state_word);
}

}  // namespace rankfault
