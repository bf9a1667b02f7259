// pickle_containers: the memo, marks and containers of the pickle machine, and the entries that it hands
// over.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "harness/flight_recorder/pickle_entry.h"
#include "harness/flight_recorder/pickle_machine.h"

namespace rankfault {

bool PickleMachine::memo_op(uint8_t code) {
  uint64_t id = puts_;
  switch (code) {
    case 'j':
      return fixed(4, id) && get(id);
    case 'r':
      return fixed(4, id) && put(id);
    case 0x94:
      return put(id);
    default:
      break;
  }
  const int64_t length = line_length(window_, kNumberLine);
  if (length < 0) return false;
  const char* end = window_.data() + length;
  const auto [stop, bad] = std::from_chars(window_.data(), end, id);
  if (bad != std::errc() || stop != end) return fail("an invalid memo number");
  window_.skip(static_cast<size_t>(length) + 1);
  return code == 'g' ? get(id) : put(id);
}

bool PickleMachine::pop_mark(size_t& first) {
  if (marks_.empty()) return fail("the end of a container without its start");
  first = marks_.back();
  marks_.pop_back();
  return true;
}

bool PickleMachine::push_node(ValueKind kind, const FrValue* items, size_t count) {
  ValueNode* node = arena_.make_node();
  if (!node || !arena_.append(*node, items, count)) return fail("too many values at once");
  node->item = item_open_ ? item_ : 0;
  FrValue v{kind};
  v.node = node;
  return push(v);
}

// TUPLE, LIST, DICT, FROZENSET: makes one value of the values above the mark.
bool PickleMachine::from_mark(ValueKind kind) {
  size_t first = 0;
  if (!pop_mark(first)) return false;
  const size_t count = stack_.size() - first;
  if (kind == ValueKind::kList && count == 0) return empty_list();
  if (kind == ValueKind::kDict && count % 2 != 0) return fail("a key without a value");
  ValueNode* node = arena_.make_node();
  if (!node || !arena_.append(*node, stack_.data() + first, count)) return fail("too many values at once");
  node->item = item_open_ ? item_ : 0;
  stack_.resize(first);
  FrValue v{kind};
  v.node = node;
  return push(v);
}

bool PickleMachine::tuple_of(size_t count) {
  if (stack_.size() - floor() < count) return fail("a tuple of missing values");
  const size_t first = stack_.size() - count;
  marks_.push_back(first);
  return from_mark(ValueKind::kTuple);
}

// APPENDS, ADDITEMS, SETITEMS: moves the values from `first` on into the container below them.
bool PickleMachine::add(size_t first, bool pairs) {
  if (first == floor()) return fail("items without a container");
  const FrValue target = stack_[first - 1];
  const ValueKind kind = target.kind;
  if (pairs ? kind != ValueKind::kDict : kind != ValueKind::kList && kind != ValueKind::kSet)
    return fail(fmt::format("items are added to {}", kind_word(kind)));
  const size_t count = stack_.size() - first;
  if (pairs && count % 2 != 0) return fail("a key without a value");
  if (target.node == stream_) {
    for (size_t i = first; i < stack_.size(); ++i)
      if (!hand_over(stack_[i])) return false;
    const bool ends = item_open_ && first == stream_at_ + 1 && count != 0 && stack_[first].node == item_node_;
    stack_.resize(first);
    if (ends) end_item();
    return true;
  }
  // An older container now holds values of this entry, so they must outlive the entry.
  if (target.node->item != (item_open_ ? item_ : 0)) keep_ = true;
  if (!arena_.append(*target.node, stack_.data() + first, count)) return fail("too many values at once");
  stack_.resize(first);
  return true;
}

bool PickleMachine::add_one(bool pair) {
  const size_t count = pair ? 2 : 1;
  if (stack_.size() - floor() < count + 1) return fail("an item without a container");
  return add(stack_.size() - count, pair);
}

// The list of entries is the empty list that follows the key "entries" in the outermost dict.
bool PickleMachine::empty_list() {
  const bool is_stream = !stream_ && marks_.size() <= 1 && stack_.size() >= 2 && stack_.size() % 2 == 0 &&
                         stack_[0].kind == ValueKind::kDict && stack_.back().kind == ValueKind::kText &&
                         stack_.back().text() == "entries" && (marks_.empty() || marks_[0] == 1);
  if (!push_node(ValueKind::kList)) return false;
  if (is_stream) {
    stream_ = stack_.back().node;
    stream_at_ = stack_.size() - 1;
  }
  return true;
}

// Whether the next values are items of the list of entries.
bool PickleMachine::in_stream() const {
  return stream_ && !marks_.empty() && marks_.back() == stream_at_ + 1 &&
         stack_[stream_at_].kind == ValueKind::kList && stack_[stream_at_].node == stream_;
}

// An entry is whole when the next one begins. PyTorch puts all entries between one MARK and one APPENDS.
bool PickleMachine::empty_dict() {
  if (!in_stream()) return push_node(ValueKind::kDict);
  if (item_open_ && stack_.size() == stream_at_ + 2 && stack_.back().node == item_node_) {
    if (!hand_over(stack_.back())) return false;
    stack_.pop_back();
    end_item();
  }
  if (stack_.size() != stream_at_ + 1) return push_node(ValueKind::kDict);
  if (quick_) {
    const bool begins = quick_entries();
    if (!error_.empty()) return false;
    if (!begins) return true;
    at_ = window_.offset() - 1;
  }
  if (item_ == std::numeric_limits<uint32_t>::max()) return fail("too many entries");
  item_open_ = true;
  keep_ = false;
  ++item_;
  item_mark_ = arena_.mark();
  const bool pushed = push_node(ValueKind::kDict);
  item_node_ = pushed ? stack_.back().node : nullptr;
  return pushed;
}

// While the item's dict is at its first place on the stack, nothing below it can have changed. Only the memo
// or an older container can then refer to the values made since, and both cases set keep_.
void PickleMachine::end_item() {
  if (!keep_) arena_.rewind(item_mark_);
  item_open_ = false;
}

// Reads entries directly, from behind the EMPTY_DICT of one. Returns true when the machine must read the next
// entry.
bool PickleMachine::quick_entries() {
  for (;;) {
    PickleEntry entry(*this);
    if (!entry.read()) return true;
    at_ = window_.offset();
    window_.skip(entry.bytes());
    puts_ += entry.puts();
    if (const Status taken = entry.hand_over(); !taken) return fail(taken.error());
    if (!window_.need(1) || *window_.data() != '}') return false;
    window_.skip(1);
  }
}

bool PickleMachine::hand_over(const FrValue& item) {
  const Status taken = decoder_.entry(item, at_);
  return taken ? true : fail(taken.error());
}

}  // namespace rankfault
