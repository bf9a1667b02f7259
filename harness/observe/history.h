// history: what the readers of histories share: the order of records, where a look cuts them, and their
// names.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "harness/observe/ring_reader.h"

namespace rankfault {

void sort_history(std::vector<Event>&);  // by (time, lane, index)

// Which records belong to a look, according to the state words of its lanes: those that were claimed by then,
// are whole, and are kept by the window.
class HistoryCut {
 public:
  explicit HistoryCut(const std::vector<LaneView>& lanes);
  bool holds(const Event&) const;

 private:
  std::array<const LaneView*, RF_MAX_LANES + 1> at_{};
};

// Adds the name that a record carries, if any, to the known names of its process.
void add_name(const RingReader&, const rf_record&, std::map<uint32_t, std::string>& names);

}  // namespace rankfault
