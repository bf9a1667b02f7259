#include "harness/flight_recorder/value.h"

#include <algorithm>
#include <limits>
#include <new>

namespace rankfault {

constexpr size_t kChunkBytes = size_t{64} << 10;

const FrValue* FrValue::find(std::string_view key) const {
  if (kind != ValueKind::kDict) return nullptr;
  for (uint32_t i = node->count; i >= 2; i -= 2)
    if (node->items[i - 2].kind == ValueKind::kText && node->items[i - 2].text() == key)
      return &node->items[i - 1];
  return nullptr;
}

const char* kind_word(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNone:
      return "None";
    case ValueKind::kBool:
      return "a boolean";
    case ValueKind::kInt:
      return "an integer";
    case ValueKind::kBigInt:
      return "an integer of more than 64 bits";
    case ValueKind::kFloat:
      return "a float";
    case ValueKind::kText:
      return "a string";
    case ValueKind::kBytes:
      return "bytes";
    case ValueKind::kList:
      return "a list";
    case ValueKind::kTuple:
      return "a tuple";
    case ValueKind::kDict:
      return "a dict";
    case ValueKind::kSet:
      return "a set";
  }
  return "?";
}

// Keeps the chunks of the usual size for the next entry. Frees from the first larger one on: it was allocated
// for one large value.
void Arena::rewind(Mark mark) {
  for (size_t i = mark.chunk + 1; i < chunks_.size(); ++i)
    if (chunks_[i].size > kChunkBytes) {
      for (size_t k = i; k < chunks_.size(); ++k) total_ -= chunks_[k].size;
      chunks_.resize(i);
    }
  chunk_ = mark.chunk;
  used_ = mark.used;
}

char* Arena::allocate_in_next(size_t bytes) {
  size_t next = chunks_.empty() ? 0 : chunk_ + 1;
  while (next < chunks_.size() && chunks_[next].size < bytes) ++next;
  if (next >= chunks_.size()) {
    const size_t size = std::max(bytes, kChunkBytes);
    if (size < bytes || size > limit_ - std::min(limit_, total_)) return nullptr;
    std::unique_ptr<char[]> memory(new (std::nothrow) char[size]);
    if (!memory) return nullptr;
    chunks_.push_back({std::move(memory), size});
    total_ += size;
    next = chunks_.size() - 1;
  }
  chunk_ = next;
  used_ = bytes;
  return chunks_[next].memory.get();
}

ValueNode* Arena::make_node() {
  char* at = allocate(sizeof(ValueNode));
  return at ? new (at) ValueNode : nullptr;
}

bool Arena::append(ValueNode& node, const FrValue* values, size_t count) {
  if (count == 0) return true;
  if (count > node.capacity - node.count) {
    const uint64_t room = std::max<uint64_t>(node.count + count, node.count ? uint64_t{node.count} * 2 : 0);
    if (room > std::numeric_limits<uint32_t>::max()) return false;
    auto* items = reinterpret_cast<FrValue*>(allocate(room * sizeof(FrValue)));
    if (!items) return false;
    if (node.count) std::memcpy(static_cast<void*>(items), node.items, node.count * sizeof(FrValue));
    node.items = items;
    node.capacity = static_cast<uint32_t>(room);
  }
  std::memcpy(static_cast<void*>(node.items + node.count), values, count * sizeof(FrValue));
  node.count += static_cast<uint32_t>(count);
  return true;
}

}  // namespace rankfault
