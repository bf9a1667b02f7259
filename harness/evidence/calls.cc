#include "harness/evidence/calls.h"

#include <fmt/format.h>

namespace rankfault {
namespace {

StackCall python_call(const PythonFrame& frame) {
  return frame.where.rfind("distributed_c10d.py:", 0) == 0 ? torch_call(frame.function) : StackCall{};
}

bool is_communication_library(const std::string& module) {
  for (const char* prefix : {"libgloo", "libmpi", "libnccl"})
    if (module.rfind(prefix, 0) == 0) return true;
  return false;
}

bool is_library(const std::string& module) {
  for (const char* prefix : {"lib", "ld-linux", "[vdso]", "linux-vdso", "mca_", "python", "_C."})
    if (module.rfind(prefix, 0) == 0) return true;
  return module.find(".so") != std::string::npos;
}

const char* state_word(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "in the kernel, uninterruptible";
    case 'T':
      return "stopped";
    case 't':
      return "traced";
    default:
      return "state unknown";
  }
}

std::string thread_line(const ThreadEvidence& thread) {
  const StackCall call = call_of(thread);
  std::string line = state_word(thread.state);
  if (!call.name.empty()) line += ", in " + call.name;
  if (!call.name.empty()) return line;
  // The library's own function name is more informative than the kernel's.
  if (!thread.frames.empty() && !thread.frames[0].function.empty() && is_library(thread.frames[0].module))
    return line + ", in " + thread.frames[0].function;
  return thread.system_call.empty() ? line : line + ", in system call " + thread.system_call;
}

}  // namespace

StackCall call_of(const ThreadEvidence& thread) {
  for (auto f = thread.python.rbegin(); f != thread.python.rend(); ++f)
    if (StackCall call = python_call(*f); !call.op.empty()) return call;
  for (auto f = thread.frames.rbegin(); f != thread.frames.rend(); ++f)
    if (StackCall call = native_call(f->function); !call.name.empty()) return call;
  // A stripped library does not show which call it is, but the program did call it. The library's own threads
  // have no frame of the program.
  if (own_frames(thread, 1).empty()) return {};
  for (auto f = thread.frames.rbegin(); f != thread.frames.rend(); ++f)
    if (is_communication_library(f->module)) return {"a call of " + f->module, "wait"};
  return {};
}

StackCall call_of(const RankEvidence& rank) {
  for (const ThreadEvidence& thread : rank.threads)
    if (StackCall call = call_of(thread); !call.name.empty()) return call;
  return {};
}

std::set<std::string> ops_of(const RankEvidence& rank) {
  std::set<std::string> ops;
  for (const ThreadEvidence& thread : rank.threads) {
    for (const PythonFrame& f : thread.python) ops.insert(python_call(f).op);
    for (const Frame& f : thread.frames)
      if (const StackCall call = native_call(f.function); !call.name.empty())
        ops.insert(call.op.empty() ? call.name : call.op);
    ops.insert(call_of(thread).op);
  }
  ops.erase("");
  if (ops.size() > 1) ops.erase("wait");
  return ops;
}

std::vector<std::string> own_frames(const ThreadEvidence& thread, size_t most) {
  std::vector<std::string> out;
  for (const PythonFrame& f : thread.python)
    if (!f.library && out.size() < most) out.push_back(fmt::format("{} ({})", f.function, f.where));
  if (!out.empty()) return out;
  for (const Frame& f : thread.frames)
    if (!f.module.empty() && !is_library(f.module) && f.function != "_start" &&
        f.function.rfind("std::", 0) != 0 && out.size() < most)
      out.push_back(f.function.empty() ? f.where : fmt::format("{} ({})", f.function, f.where));
  return out;
}

std::vector<std::string> short_evidence(const RankEvidence& rank) {
  constexpr size_t kOwnFrames = 3, kSockets = 4;
  std::vector<std::string> lines;
  size_t others = 0;
  for (const ThreadEvidence& thread : rank.threads) {
    const bool is_main = thread.tid == rank.pid;
    if (!is_main && call_of(thread).name.empty()) {
      ++others;
      continue;
    }
    lines.push_back((is_main ? "" : fmt::format("thread {}: ", thread.name)) + thread_line(thread));
    for (const std::string& frame : own_frames(thread, kOwnFrames)) lines.push_back("  " + frame);
  }
  if (others)
    lines.push_back(fmt::format("{} other thread{} outside of any call", others, others == 1 ? "" : "s"));
  size_t shown = 0;
  for (const SocketEvidence& s : rank.sockets)
    if ((s.send_queue || s.receive_queue) && shown++ < kSockets)
      lines.push_back(
          fmt::format("socket to {}: {} bytes not sent, {} not read", s.peer, s.send_queue, s.receive_queue));
  if (!rank.no_stacks.empty()) lines.push_back("no stacks: " + rank.no_stacks);
  return lines;
}

std::set<std::string> notes_of(const std::vector<RankEvidence>& ranks) {
  std::set<std::string> notes;
  for (const RankEvidence& rank : ranks)
    if (!rank.no_python.empty()) notes.insert(rank.no_python);
  return notes;
}

}  // namespace rankfault
