// dump_decoder: turns plain values, from pickle or JSON, into the structs of dump.h.
//
// The shapes are fixed, so no function here follows a value deeper than a dump is nested. Many values may
// share one value, so the decoder counts the work and refuses a dump whose work exceeds its length by far.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/flight_recorder/frame_table.h"
#include "harness/flight_recorder/limits.h"
#include "harness/flight_recorder/value.h"

namespace rankfault {

// The fields of an entry, in the order in which PyTorch writes them.
enum class EntryField : uint8_t {
  kFrames,
  kRecordId,
  kPgId,
  kProcessGroup,
  kThreadName,
  kThreadId,
  kCollectiveSeqId,
  kP2pSeqId,
  kOpId,
  kProfilingName,
  kTimeCreated,
  kDuration,
  kInputSizes,
  kInputTypes,
  kOutputSizes,
  kOutputTypes,
  kState,
  kTimeStarted,
  kTimeCompleted,
  kRetired,
  kTimeout,
  kIsP2p,
  kSeqId,
  kCount
};

class DumpDecoder {
 public:
  DumpDecoder(const FrLimits& limits, FrFormat format, const FrSink& sink);

  // 1 + the index of the entry field of this name; 0: there is none. A FrValue may carry it.
  static uint8_t field_of(std::string_view name);
  // One entry, at `offset` of the unpacked bytes; it goes to the sink or into the dump.
  Status entry(const FrValue& value, uint64_t offset);
  // The outermost value, after `end` bytes were read. `streamed` is the list whose items already went to
  // entry(). If it is null, none did, and they are read now.
  Result<FrDump> finish(const FrValue& root, const ValueNode* streamed, uint64_t end);

 private:
  friend struct EntryFields;
  friend class PickleEntry;
  void begin_entry(uint64_t offset);
  void absent(uint32_t seen);  // `seen` has a bit for each field that was there
  Status hand_over();
  // Every reader returns false after it has put the reason into `error_`.
  bool wrong(const FrValue& value, const char* wanted);
  bool spend(size_t work);
  bool text(const FrValue& value, std::string& out);
  bool integer(const FrValue& value, int64_t& out);
  bool flag(const FrValue& value, bool& out);
  bool optional_time(const FrValue& value, std::optional<int64_t>& out);
  bool duration(const FrValue& value, std::optional<double>& out);
  bool sizes(const FrValue& value, std::vector<std::vector<int64_t>>& out);
  bool words(const FrValue& value, std::vector<std::string>& out);
  bool group(const FrValue& value, FrGroupName& out);
  bool state(const FrValue& value, FrEntry& out);
  bool frames(const FrValue& value, std::shared_ptr<const FrStack>& out);
  bool frame(const FrValue& value, uint32_t& out);
  bool fields(const ValueNode& dict);

  // dump_header.cc
  bool head(const FrValue& root);
  bool groups(const FrValue& value);
  bool ranks(const FrValue& value, FrGroupConfig& out);
  bool status(const FrValue& value);
  bool comm_state(const FrValue& value);
  bool loose_text(const FrValue& value, std::string& out);
  bool loose_integer(const FrValue& value, int64_t& out);
  void note(std::string what);

  const FrLimits& limits_;
  const FrSink& sink_;
  FrDump dump_;
  FrEntry entry_;  // its memory is reused
  int64_t seq_id_ = -1;
  FrameTable frame_table_;
  std::vector<uint32_t> frame_numbers_;
  std::array<uint8_t, 64> order_{};  // the fields in the order of the last entry: the next entry has the same
                                     // order
  uint64_t offset_ = 0, spent_ = 0;
  std::string error_;
};

}  // namespace rankfault
