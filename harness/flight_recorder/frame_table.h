// frame_table: keeps each frame and each stack of a dump once, however many entries have it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/flight_recorder/dump.h"

namespace rankfault {

class FrameTable {
 public:
  // The number of a frame; equal frames have equal numbers.
  uint32_t frame(std::string_view name, std::string_view file, int64_t line);
  // The stack of these frames, innermost first.
  std::shared_ptr<const FrStack> stack(const std::vector<uint32_t>& frames);

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  FrStack frames_;
  std::unordered_map<std::string, std::shared_ptr<const FrStack>> stacks_;  // by the bytes of the numbers
  std::string key_;
  std::shared_ptr<const FrStack> last_;  // a loop makes the same call repeatedly
  std::vector<uint32_t> last_frames_;
};

}  // namespace rankfault
