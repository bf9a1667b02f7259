// history: what the readers of histories share: their order, where a look cuts them, and their names.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "harness/observe/ring_reader.h"

namespace rankfault {

void sort_history(std::vector<Event>&);  // by (time, lane, index)

// Which records belong to a look, by the words of its lanes: claimed by then, whole, and kept by the window.
class HistoryCut {
 public:
  explicit HistoryCut(const std::vector<LaneView>& lanes);
  bool holds(const Event&) const;

 private:
  std::array<const LaneView*, RF_MAX_LANES + 1> at_{};
};

// The name that a record has, if it has one, into those known of its process.
void add_name(const RingReader&, const rf_record&, std::map<uint32_t, std::string>& names);

}  // namespace rankfault
