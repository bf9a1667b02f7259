// value: the plain data of pickle and JSON, and the arena that holds it.
//
// Values are 16 bytes and own nothing; texts and containers lie in the arena. A container may be shared and
// may even contain itself, so no code walks values without a bound.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace rankfault {

enum class ValueKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kBigInt,
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kSet
};

struct FrValue;

// A container. In a dict, keys and values alternate.
struct ValueNode {
  FrValue* items = nullptr;
  uint32_t count = 0;
  uint32_t capacity = 0;
  uint32_t item = 0;   // the entry in which it was made; 0: outside of entries
  uint32_t frame = 0;  // a frame's index in the FrameTable + 1; 0: not looked at yet
};

struct FrValue {
  FrValue() = default;
  explicit FrValue(ValueKind k, uint32_t bytes = 0) : kind(k), size(bytes) {}
  ValueKind kind = ValueKind::kNone;
  uint8_t field = 0;   // for a text in the memo: 1 + its index among the names of an entry's fields
  bool clean = false;  // for a text in the memo: it is safe to print as it is
  uint32_t size = 0;   // bytes of kText, kBytes
  union {
    int64_t integer = 0;  // kInt, kBool
    double real;
    const char* chars;
    ValueNode* node;
  };

  std::string_view text() const { return {chars, size}; }
  bool is_text() const { return kind == ValueKind::kText || kind == ValueKind::kBytes; }
  bool is_sequence() const { return kind == ValueKind::kList || kind == ValueKind::kTuple; }
  bool is_container() const { return kind >= ValueKind::kList; }
  // The value of a dict's key; null when absent or when this value is not a dict. Of equal keys, the last
  // wins.
  const FrValue* find(std::string_view key) const;
};

const char* kind_word(ValueKind kind);  // "an integer", "a list"

// Memory that is given back from the end: to a mark, or all at once.
class Arena {
 public:
  explicit Arena(size_t limit) : limit_(limit) {}

  struct Mark {
    size_t chunk = 0;
    size_t used = 0;
  };
  Mark mark() const { return {chunk_, used_}; }
  void rewind(Mark mark);
  // Null when the limit is reached; aligned for FrValue and ValueNode when `bytes` is a multiple of 8.
  char* allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (chunk_ < chunks_.size() && bytes <= chunks_[chunk_].size - used_) {
      char* at = chunks_[chunk_].memory.get() + used_;
      used_ += bytes;
      return at;
    }
    return allocate_in_next(bytes);
  }
  ValueNode* make_node();
  // Appends values to a container; false when the limit is reached.
  bool append(ValueNode& node, const FrValue* values, size_t count);
  size_t bytes() const { return total_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> memory;
    size_t size;
  };
  char* allocate_in_next(size_t bytes);
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0, total_ = 0;
  size_t limit_;
};

}  // namespace rankfault
