// pickle_machine: the second pass over a pickle: the stack machine. Only pickle.cc uses it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/flight_recorder/dump_decoder.h"
#include "harness/flight_recorder/pickle_scan.h"
#include "harness/flight_recorder/text.h"

namespace rankfault {

class PickleMachine {
 public:
  // `quick`: PickleEntry reads the entries in the usual form; the result is the same.
  PickleMachine(ByteSource& source, const FrLimits& limits, const MemoUse& fetched, DumpDecoder& decoder,
                bool quick);
  Result<FrDump> run();

 private:
  bool step();
  [[gnu::cold]] bool fail(std::string what);    // "byte N: what"
  [[gnu::cold]] bool fail(const Error& error);  // unchanged

  // pickle_machine.cc: values
  bool push(FrValue value) {
    if (stack_.size() == stack_.capacity() && !may_grow()) return false;
    stack_.push_back(value);
    return true;
  }
  bool may_grow();
  bool push_int(int64_t value);
  bool push_node(ValueKind kind, const FrValue* items = nullptr, size_t count = 0);
  bool push_text(ValueKind kind, size_t length_bytes);
  bool push_text(ValueKind kind, std::string_view text);
  bool push_long(size_t length_bytes);
  bool push_float();
  bool push_line(uint8_t code);
  // Inline: most of a dump is read by this and put, get, push.
  bool fixed(size_t bytes, uint64_t& value) {
    if (!window_.need(bytes)) return false;
    value = little_endian(window_.data(), bytes);
    window_.skip(bytes);
    return true;
  }

  // pickle_containers.cc: memo, marks, containers, entries
  bool memo_op(uint8_t code);
  bool put(uint64_t id) {
    ++puts_;
    if (stack_.size() == floor()) return fail("nothing to put into the memo");
    const size_t at = fetched_.index(id);
    if (at == MemoUse::kNone) return true;
    memo_[at] = stack_.back();
    if (memo_[at].kind == ValueKind::kText) {
      memo_[at].field = DumpDecoder::field_of(memo_[at].text());
      memo_[at].clean = is_clean(memo_[at].text());
    }
    if (id < first_slots_.size()) first_slots_[id] = &memo_[at];
    memo_set_[at] = 1;
    keep_ = true;
    return true;
  }
  bool get(uint64_t id) {
    const size_t at = fetched_.index(id);
    if (at != MemoUse::kNone && memo_set_[at]) return push(memo_[at]);
    return fail("memo slot " + std::to_string(id) + " is read before it is written");
  }
  bool pop_mark(size_t& first);
  bool from_mark(ValueKind kind);
  bool tuple_of(size_t count);
  bool add(size_t first, bool pairs);
  bool add_one(bool pair);
  bool empty_list();
  bool empty_dict();
  bool in_stream() const;
  bool hand_over(const FrValue& item);
  bool quick_entries();
  friend class PickleEntry;
  void end_item();
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  ByteWindow window_;
  const FrLimits& limits_;
  const MemoUse& fetched_;
  DumpDecoder& decoder_;
  bool quick_;
  Arena arena_;
  std::vector<FrValue> stack_;
  std::vector<size_t> marks_;
  std::vector<FrValue> memo_;  // by MemoUse::index
  std::vector<uint8_t> memo_set_;
  std::array<const FrValue*, 4096> first_slots_{};  // of memo_, by memo id; null where nothing was put
  uint64_t puts_ = 0;
  uint64_t at_ = 0;  // offset of the current opcode
  bool stopped_ = false;
  std::string error_;

  // The list of entries: its items are handed over instead of kept.
  ValueNode* stream_ = nullptr;
  size_t stream_at_ = 0;  // its place on the stack
  bool item_open_ = false;
  uint32_t item_ = 0;  // counts items; a node's `item`
  bool keep_ = false;  // something outside may refer to this item's values
  ValueNode* item_node_ = nullptr;
  Arena::Mark item_mark_;
};

}  // namespace rankfault
