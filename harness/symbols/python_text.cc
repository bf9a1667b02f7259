#include "harness/symbols/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/agent/agent_abi.h"

namespace rankfault {
namespace {

bool has(std::string_view path, std::string_view part) { return path.find(part) != std::string_view::npos; }

bool is_of_torch(const CallFrame& f) { return has(f.file, "-packages/torch/"); }

// Code that the user did not write: packages, Python's own library, and code that no file has.
bool is_own(const CallFrame& f) {
  return !has(f.file, "-packages/") && !has(f.file, "/lib/python3") && !f.file.empty() && f.file[0] != '<';
}

std::string frame_text(const CallFrame& f) {
  std::string place = f.file.substr(f.file.rfind('/') + 1);
  if (f.line > 0) place += fmt::format(":{}", f.line);
  return f.function == "<module>" ? place : fmt::format("{}() at {}", f.function, place);
}

// How torch came to make the call for the program; "" if the program called a function of torch.distributed.
std::string_view by_torch(const std::vector<CallFrame>& inner) {
  static constexpr std::array kBackward = {"torch/autograd/graph.py", "torch/autograd/__init__.py",
                                           "torch/_tensor.py"};
  for (const CallFrame& f : inner)
    for (const std::string_view file : kBackward)
      if (is_of_torch(f) && f.file.ends_with(file) && has(f.function, "backward")) return "backward() in ";
  return "";
}

}  // namespace

std::string python_text(const std::vector<CallFrame>& frames) {
  auto first = std::find_if(frames.begin(), frames.end(), is_own);
  const auto is_shown = first == frames.end() ? [](const CallFrame& f) { return !is_of_torch(f); } : is_own;
  first = std::find_if(frames.begin(), frames.end(), is_shown);
  if (first == frames.end()) first = frames.begin();
  if (first == frames.end()) return "";
  std::string text(by_torch({frames.begin(), first}));
  text += frame_text(*first);
  const auto caller = std::find_if(std::next(first), frames.end(), is_shown);
  if (caller != frames.end()) text += ", called from " + frame_text(*caller);
  return text;
}

std::string python_place(const std::vector<CallFrame>& frames) {
  uint64_t hash = 0;
  for (const CallFrame& f : frames) {
    const std::string one = fmt::format("{}:{}:{}", f.file, f.line, f.function);
    hash = rf_hash_bytes(hash, one.data(), one.size());
  }
  return fmt::format("{} [{:016x}]", python_text(frames), hash);
}

}  // namespace rankfault
