#include "harness/symbols/python_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "harness/agent/agent_abi.h"

namespace rankfault {
namespace {

bool has(std::string_view path, std::string_view part) { return path.find(part) != std::string_view::npos; }

// Python 3.13 and later put it between a call of a class and its __init__().
bool is_shim(const CallFrame& f) { return f.file == "__init__" && f.function == "__init__"; }

bool is_of_torch(const CallFrame& f) { return has(f.file, "-packages/torch/"); }

bool is_own(const CallFrame& f) { return !is_python_library(f.file) && !is_shim(f); }

// The part of a path that is equal on all hosts: behind the folder of packages, or the last two names. Texts
// that are compiled at run time have numbers of their own on each rank.
std::string portable(std::string path) {
  if (const size_t at = path.find("-packages/"); at != std::string::npos) return path.substr(at);
  if (!path.empty() && path[0] == '<') {
    std::erase_if(path, [](unsigned char c) { return std::isdigit(c) != 0; });
    return path;
  }
  const size_t last = path.rfind('/'),
               before = last == 0 || last == std::string::npos ? last : path.rfind('/', last - 1);
  return before == std::string::npos ? path : path.substr(before);
}

std::string frame_text(const CallFrame& f) {
  const std::string place = python_line_text(f.file, f.line);
  return f.function == "<module>" ? place : fmt::format("{}() at {}", f.function, place);
}

// How torch came to make the call for the program; "" if the program called a function of torch.distributed.
// FSDP gathers parameters in the forward pass, and sums gradients in the backward pass.
std::string_view by_torch(const std::vector<CallFrame>& inner) {
  static constexpr std::array kBackward = {"torch/autograd/graph.py", "torch/autograd/__init__.py",
                                           "torch/_tensor.py"};
  const auto is_of_backward = [](const CallFrame& f) {
    return is_of_torch(f) && has(f.function, "backward") &&
           std::any_of(kBackward.begin(), kBackward.end(), [&](auto file) { return f.file.ends_with(file); });
  };
  const bool by_fsdp = std::any_of(
      inner.begin(), inner.end(), [](const CallFrame& f) { return is_of_torch(f) && has(f.file, "/fsdp/"); });
  if (!std::any_of(inner.begin(), inner.end(), is_of_backward)) return by_fsdp ? "FSDP in " : "";
  if (by_fsdp) return "FSDP, backward() in ";
  // A reentrant checkpoint runs passes of its own inside the pass of the program.
  const bool inside = std::any_of(inner.begin(), inner.end(), [](const CallFrame& f) {
    return f.file.ends_with("torch/utils/checkpoint.py");
  });
  return inside ? "checkpoint, backward() in " : kInBackward;
}

}  // namespace

bool is_python_library(std::string_view path) {
  return has(path, "-packages/") || has(path, "/lib/python3") || path.empty() || path[0] == '<';
}

std::string python_line_text(const std::string& path, int line) {
  size_t name = path.rfind('/') + 1;
  if (name > 1 && path.compare(name, 2, "__") == 0) name = path.rfind('/', name - 2) + 1;
  return line > 0 ? fmt::format("{}:{}", path.substr(name), line) : path.substr(name);
}

std::string python_text(const std::vector<CallFrame>& frames) {
  if (frames.empty()) return "";
  const bool has_own = std::any_of(frames.begin(), frames.end(), is_own);
  const auto is_shown = [&](const CallFrame& f) { return has_own ? is_own(f) : !is_of_torch(f); };
  auto first = std::find_if(frames.begin(), frames.end(), is_shown);
  if (first == frames.end()) first = frames.begin();
  std::string text(by_torch({frames.begin(), first}));
  text += frame_text(*first);
  const auto caller = std::find_if(std::next(first), frames.end(), is_shown);
  if (caller != frames.end()) text += ", called from " + frame_text(*caller);
  return text;
}

std::string python_place(const std::vector<CallFrame>& frames) {
  uint64_t hash = 0;
  for (const CallFrame& f : frames) {
    if (is_shim(f)) continue;
    const std::string one = fmt::format("{}:{}:{}", portable(f.file), f.line, f.function);
    hash = rf_hash_bytes(hash, one.data(), one.size());
  }
  return fmt::format("{} [{:016x}]", python_text(frames), hash);
}

}  // namespace rankfault
