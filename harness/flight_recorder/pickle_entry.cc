#include "harness/flight_recorder/pickle_entry.h"

#include <cstring>

namespace rankfault {

PickleEntry::PickleEntry(PickleMachine& machine)
    : machine_(machine),
      decoder_(machine.decoder_),
      entry_(machine.decoder_.entry_),
      start_(machine.window_.data()),
      at_(start_),
      end_(start_ + machine.window_.available()) {}

bool PickleEntry::read() {
  decoder_.begin_entry(machine_.window_.offset());
  if (!skip_put() || !take('(')) return false;
  while (!take('u')) {
    const FrValue* name = fetched();
    if (!name || name->field == 0) return false;
    seen_ |= 1u << (name->field - 1);
    if (!decoder_.spend(1) || !field(static_cast<EntryField>(name->field - 1))) return false;
  }
  // If the next entry or the end of the list follows, nothing can refer to this entry or add to it.
  if (!has(1) || (*at_ != '}' && *at_ != 'e')) return false;
  decoder_.absent(seen_);
  return true;
}

Status PickleEntry::hand_over() { return decoder_.hand_over(); }

const FrValue* PickleEntry::fetched() {
  uint64_t id = 0;
  if (has(2) && *at_ == 'h') {
    id = static_cast<uint8_t>(at_[1]);
    at_ += 2;
  } else if (has(5) && *at_ == 'j') {
    id = little_endian(at_ + 1, 4);
    at_ += 5;
  } else {
    return nullptr;
  }
  if (id < machine_.first_slots_.size()) return machine_.first_slots_[id];
  const size_t place = machine_.fetched_.index(id);
  return place != MemoUse::kNone && machine_.memo_set_[place] ? &machine_.memo_[place] : nullptr;
}

bool PickleEntry::skip_put() {
  uint64_t id = machine_.puts_ + puts_;
  if (has(2) && *at_ == 'q') {
    id = static_cast<uint8_t>(at_[1]);
    at_ += 2;
  } else if (has(5) && *at_ == 'r') {
    id = little_endian(at_ + 1, 4);
    at_ += 5;
  } else if (has(1) && static_cast<uint8_t>(*at_) == 0x94) {
    ++at_;
  } else {
    return true;
  }
  ++puts_;
  return machine_.fetched_.index(id) == MemoUse::kNone;
}

bool PickleEntry::field(EntryField field) {
  FrEntry& e = entry_;
  FrValue pair[2];
  switch (field) {
    case EntryField::kFrames:
      return frames();
    case EntryField::kRecordId:
      return integer(e.record_id);
    case EntryField::kPgId:
      return integer(e.pg_id);
    case EntryField::kProcessGroup:
      return text(e.group.name) && text(e.group.desc) && take('\x86') && skip_put();
    case EntryField::kThreadName:
      return text(e.thread_name);
    case EntryField::kThreadId:
      return text(e.thread_id);
    case EntryField::kCollectiveSeqId:
      return integer(e.collective_seq_id);
    case EntryField::kP2pSeqId:
      return integer(e.p2p_seq_id);
    case EntryField::kOpId:
      return integer(e.op_id);
    case EntryField::kProfilingName:
      return text(e.profiling_name);
    case EntryField::kTimeCreated:
      return integer(e.time_created_ns);
    case EntryField::kDuration:
      return duration(e.duration_ms);
    case EntryField::kInputSizes:
      return sizes(e.input_sizes);
    case EntryField::kInputTypes:
      return words(e.input_dtypes);
    case EntryField::kOutputSizes:
      return sizes(e.output_sizes);
    case EntryField::kOutputTypes:
      return words(e.output_dtypes);
    case EntryField::kState:
      return text(pair[0]) && decoder_.state(pair[0], e);
    case EntryField::kTimeStarted:
      return optional_time(e.time_discovered_started_ns);
    case EntryField::kTimeCompleted:
      return optional_time(e.time_discovered_completed_ns);
    case EntryField::kRetired:
      return flag(e.retired);
    case EntryField::kTimeout:
      return integer(e.timeout_ms);
    case EntryField::kIsP2p:
      return flag(e.is_p2p);
    case EntryField::kSeqId:
    case EntryField::kCount:
      break;
  }
  return false;
}

bool PickleEntry::integer(int64_t& out) {
  if (!has(10)) return false;  // the longest integer; more bytes always follow an entry
  switch (static_cast<uint8_t>(*at_)) {
    case 'K':
      out = static_cast<uint8_t>(at_[1]);
      at_ += 2;
      return true;
    case 'M':
      out = static_cast<int64_t>(little_endian(at_ + 1, 2));
      at_ += 3;
      return true;
    case 'J':
      out = static_cast<int32_t>(little_endian(at_ + 1, 4));
      at_ += 5;
      return true;
    case 0x8a:
      if (at_[1] != 8) return false;
      out = static_cast<int64_t>(little_endian(at_ + 2, 8));
      at_ += 10;
      return true;
    default:
      return false;
  }
}

bool PickleEntry::optional_time(std::optional<int64_t>& out) {
  int64_t time = 0;
  if (take('N')) return true;
  if (!integer(time)) return false;
  if (time != 0) out = time;
  return true;
}

bool PickleEntry::flag(bool& out) {
  out = has(1) && static_cast<uint8_t>(*at_) == 0x88;
  return take('\x88') || take('\x89');
}

bool PickleEntry::duration(std::optional<double>& out) {
  if (take('N')) return true;
  if (!has(9) || *at_ != 'G') return false;
  uint64_t bits = 0;
  double value = 0;
  std::memcpy(&bits, at_ + 1, 8);
  bits = __builtin_bswap64(bits);
  std::memcpy(&value, &bits, 8);
  out = value;
  at_ += 9;
  return true;
}

bool PickleEntry::text(FrValue& out) {
  if (has(5) && *at_ == 'X') {
    const uint64_t length = little_endian(at_ + 1, 4);
    if (length > machine_.limits_.text || !has(length + 5)) return false;
    out = FrValue(ValueKind::kText, static_cast<uint32_t>(length));
    out.chars = at_ + 5;
    at_ += length + 5;
    return skip_put();
  }
  if (has(2) && static_cast<uint8_t>(*at_) == 0x8c) {
    const size_t length = static_cast<uint8_t>(at_[1]);
    if (!has(length + 2)) return false;
    out = FrValue(ValueKind::kText, static_cast<uint32_t>(length));
    out.chars = at_ + 2;
    at_ += length + 2;
    return skip_put();
  }
  const FrValue* known = fetched();
  if (!known || known->kind != ValueKind::kText) return false;
  out = *known;
  return true;
}

// Words that many entries share are in the memo, which knows whether they are clean.
bool PickleEntry::text(std::string& out) {
  const char* before = at_;
  if (const FrValue* known = fetched(); known && known->kind == ValueKind::kText && known->clean) {
    out.assign(known->chars, known->size);
    return decoder_.spend(1 + known->size / 16);
  }
  at_ = before;
  FrValue value;
  return text(value) && decoder_.text(value, out);
}

constexpr char kAfterField[] = "hju";  // the next name, or the end of the entry
constexpr char kAfterShape[] = "]ea";  // the next shape, or the end of the shapes

template <typename Each>
bool PickleEntry::list(const char* behind, Each each) {
  if (!take(']') || !skip_put() || !has(1)) return false;
  if (!take('(')) {  // no item, or one that APPEND adds; after a wrong guess, APPEND does not match
    const bool is_empty = *at_ == behind[0] || *at_ == behind[1] || *at_ == behind[2];
    return is_empty || (decoder_.spend(1) && each() && take('a'));
  }
  while (!take('e'))
    if (!decoder_.spend(1) || !each()) return false;
  return true;
}

bool PickleEntry::shape(std::vector<int64_t>& out) {
  size_t count = 0;
  const bool good = list(kAfterShape, [&] {
    if (count == out.size()) out.emplace_back();
    return integer(out[count++]);
  });
  out.resize(count);
  return good;
}

bool PickleEntry::sizes(std::vector<std::vector<int64_t>>& out) {
  size_t count = 0;
  const bool good = list(kAfterField, [&] {
    if (count == out.size()) out.emplace_back();
    return shape(out[count++]);
  });
  out.resize(count);
  return good;
}

bool PickleEntry::words(std::vector<std::string>& out) {
  size_t count = 0;
  const bool good = list(kAfterField, [&] {
    if (count == out.size()) out.emplace_back();
    return text(out[count++]);
  });
  out.resize(count);
  return good;
}

bool PickleEntry::frames() {
  std::vector<uint32_t>& numbers = decoder_.frame_numbers_;
  numbers.clear();
  const bool good = list(kAfterField, [&] {
    const FrValue* frame = fetched();
    if (!frame || frame->kind != ValueKind::kDict || frame->node->frame == 0) return false;
    numbers.push_back(frame->node->frame - 1);
    return true;
  });
  if (good) entry_.frames = decoder_.frame_table_.stack(numbers);
  return good;
}

}  // namespace rankfault
