#include "harness/reproduce/logs/thread_stacks.h"

#include <algorithm>

#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr size_t kMostFrames = 64, kMostThreads = 1024;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// A function of PyTorch's Python part, or, with `py-spy dump --native`, of a library.
std::string op_of_frame(std::string_view function, std::string_view file) {
  if (ends_with(file, "distributed/distributed_c10d.py")) return op_of_torch(function);
  if (function.substr(0, 4) == "nccl" || function.substr(0, 5) == "pnccl") return op_of_nccl(function);
  if (function.substr(0, 4) == "MPI_" || function.substr(0, 5) == "PMPI_") return op_of_mpi(function);
  return "";
}

}  // namespace

void ThreadStacks::begin_thread(bool is_main) {
  if (threads_.size() == kMostThreads) threads_.pop_back();
  threads_.push_back({is_main, "", {}});
}

void ThreadStacks::add_frame(std::string_view function, std::string_view file, std::string_view line) {
  if (threads_.empty()) return;
  Thread& thread = threads_.back();
  if (thread.op.empty()) thread.op = op_of_frame(function, file);
  if (thread.frames.size() == kMostFrames) return;
  std::string frame = message_text(function, 0) + " (" + message_text(file, 0);
  if (!line.empty()) frame += ":" + message_text(line, 0);
  thread.frames.push_back(frame + ")");
}

Clue ThreadStacks::clue() && {
  Thread* chosen = nullptr;
  for (Thread& thread : threads_) {
    const auto worth = [](const Thread& t) { return (t.op.empty() ? 0 : 2) + (t.is_main ? 1 : 0); };
    if (chosen == nullptr || worth(thread) > worth(*chosen)) chosen = &thread;
  }
  if (chosen != nullptr) {
    process_.op = std::move(chosen->op);
    process_.frames = std::move(chosen->frames);
  }
  return std::move(process_);
}

}  // namespace rankfault
