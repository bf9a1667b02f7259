#include "harness/flight_recorder/frame_table.h"

namespace rankfault {

uint32_t FrameTable::frame(std::string_view name, std::string_view file, int64_t line) {
  key_.assign(name).append(1, '\n').append(file).append(1, '\n').append(std::to_string(line));
  const auto [at, is_new] = numbers_.try_emplace(key_, static_cast<uint32_t>(frames_.size()));
  if (is_new)
    frames_.push_back(std::make_shared<const FrFrame>(FrFrame{std::string(name), std::string(file), line}));
  return at->second;
}

std::shared_ptr<const FrStack> FrameTable::stack(const std::vector<uint32_t>& frames) {
  if (last_ && frames == last_frames_) return last_;
  key_.assign(reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof frames[0]);
  std::shared_ptr<const FrStack>& stack = stacks_[key_];
  if (!stack) {
    FrStack made;
    made.reserve(frames.size());
    for (const uint32_t number : frames) made.push_back(frames_[number]);
    stack = std::make_shared<const FrStack>(std::move(made));
  }
  last_ = stack;
  last_frames_ = frames;
  return stack;
}

}  // namespace rankfault
