// pickle_entry: reads one entry directly, without the stack machine, if it has the form that picklers write.
//
// It looks ahead in the window and changes nothing of the machine except the decoder's scratch entry. At the
// first unusual byte (a new name, a value that is fetched later, the end of the window) it gives up, and the
// machine reads the entry from its start. It is three times as fast, and has the same result: the tests
// compare both ways.
#pragma once

#include <cstdint>

#include "harness/flight_recorder/pickle_machine.h"

namespace rankfault {

class PickleEntry {
 public:
  // The window is positioned after the entry's EMPTY_DICT.
  explicit PickleEntry(PickleMachine& machine);

  bool read();  // false: not in the usual form
  size_t bytes() const { return static_cast<size_t>(at_ - start_); }
  uint64_t puts() const { return puts_; }
  Status hand_over();  // after read()

 private:
  bool has(size_t bytes) const { return static_cast<size_t>(end_ - at_) >= bytes; }
  bool take(char code) {
    if (at_ == end_ || *at_ != code) return false;
    ++at_;
    return true;
  }
  const FrValue* fetched();  // BINGET, LONG_BINGET
  bool skip_put();           // a PUT that is never fetched, or none
  bool field(EntryField field);
  bool integer(int64_t& out);
  bool optional_time(std::optional<int64_t>& out);
  bool flag(bool& out);
  bool duration(std::optional<double>& out);
  bool text(FrValue& out);
  bool text(std::string& out);
  bool sizes(std::vector<std::vector<int64_t>>& out);
  bool shape(std::vector<int64_t>& out);
  bool words(std::vector<std::string>& out);
  bool frames();
  // A list: each() reads one item. One of `behind` follows an empty list.
  template <typename Each>
  bool list(const char* behind, Each each);

  PickleMachine& machine_;
  DumpDecoder& decoder_;
  FrEntry& entry_;
  const char* start_;
  const char* at_;
  const char* end_;
  uint64_t puts_ = 0;
  uint32_t seen_ = 0;
};

}  // namespace rankfault
