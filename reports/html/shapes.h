// Shapes: what equal calls share (operation, communicator, size, source line), kept once for the whole page.
#pragma once

#include <unordered_map>

#include "harness/facts/run_facts.h"
#include "harness/observe/call_history.h"
#include "reports/html/texts.h"

namespace rankfault::html {

struct CommNames {  // by identity: as the findings call it, else "world", else its own name
  std::unordered_map<uint64_t, std::string> told;

  std::string of(const CommView&, int world_size) const;
};

class Shapes {
 public:
  Shapes(Texts& texts, CommNames names, int world_size)
      : texts_(texts), names_(std::move(names)), world_size_(world_size) {}

  // `row`: the thread's place among those of its process.
  uint32_t number_of(const CallHistory&, const RecordedCall&, uint32_t row);
  void next_process() { known_.clear(); }
  // Each as [operation, class, communicator, bytes, elements and type, peer, source line, library, row,
  // path]; numbers of texts, -1: none.
  Json take() { return std::move(table_); }

 private:
  struct Raw {
    uint64_t count, where, path;
    uint32_t comm, row;
    int32_t peer;
    uint16_t op, flags;
    uint8_t library, dtype, reduce_op, open;
    uint32_t no_padding;
    bool operator==(const Raw&) const = default;
  };
  struct Hash {
    size_t operator()(const Raw& raw) const { return rf_hash_bytes(0, &raw, sizeof raw); }
  };
  Json describe(const CallHistory&, const RecordedCall&, uint32_t row);
  int64_t text(const std::string& words) { return words.empty() ? -1 : int64_t{texts_.number_of(words)}; }

  Texts& texts_;
  CommNames names_;
  int world_size_;
  std::unordered_map<Raw, uint32_t, Hash> known_;      // of this process
  std::unordered_map<std::string, uint32_t> numbers_;  // by the description, over all processes
  Json table_ = Json::array();
};

// What the page draws alike: "collective", "message", "wait", "life", "file", "device", "other".
enum class CallClass { kCollective, kMessage, kWait, kLife, kFile, kDevice, kOther };
CallClass class_of(uint16_t op);

}  // namespace rankfault::html
