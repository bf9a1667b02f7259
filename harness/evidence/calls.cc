// calls: see calls.h.
#include "harness/evidence/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace rankfault {
namespace {

// Each library spells them in its own way: without case and underscores they agree.
std::string op_word(std::string_view spelled) {
  static const std::map<std::string, const char*, std::less<>> ops{
      {"allreduce", "all_reduce"},
      {"reduce", "reduce"},
      {"bcast", "broadcast"},
      {"broadcast", "broadcast"},
      {"barrier", "barrier"},
      {"monitoredbarrier", "barrier"},
      {"allgather", "all_gather"},
      {"allgatherv", "all_gather"},
      {"allgatherintotensor", "all_gather"},
      {"allgatherbase", "all_gather"},
      {"gather", "gather"},
      {"gatherv", "gather"},
      {"scatter", "scatter"},
      {"scatterv", "scatter"},
      {"reducescatter", "reduce_scatter"},
      {"reducescatterblock", "reduce_scatter"},
      {"reducescattertensor", "reduce_scatter"},
      {"alltoall", "all_to_all"},
      {"alltoallv", "all_to_all"},
      {"alltoallw", "all_to_all"},
      {"alltoallsingle", "all_to_all"},
      {"alltoallbase", "all_to_all"},
      {"scan", "scan"},
      {"exscan", "exscan"},
      {"send", "send"},
      {"ssend", "send"},
      {"bsend", "send"},
      {"rsend", "send"},
      {"recv", "receive"},
      {"probe", "receive"},
      {"sendrecv", "send_receive"},
      {"init", "init"},
      {"initthread", "init"},
      {"initprocessgroup", "init"},
      {"commrinit", "init"},
      {"comminitrank", "init"},
      {"comminitrankconfig", "init"},
      {"newgroup", "init"},
      {"finalize", "finalize"},
      {"destroyprocessgroup", "finalize"},
      {"commsplit", "comm_create"},
      {"commdup", "comm_create"},
      {"commcreate", "comm_create"},
      {"connectfullmesh", "init"},
      {"wait", "wait"},
      {"waitall", "wait"},
      {"waitany", "wait"},
      {"waitsome", "wait"},
      {"synchronize", "wait"},
      {"groupend", "wait"},
  };
  std::string key;
  for (const char c : spelled)
    if (c != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = ops.find(key);
  return found == ops.end() ? "" : found->second;
}

std::string_view last_part(std::string_view name) {
  const size_t colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// "gloo::(anonymous namespace)::run" and template arguments are no part of an entry's name.
std::string without_template(const std::string& name) { return name.substr(0, name.find('<')); }

StackCall native_call(const std::string& function) {
  const std::string name = without_template(function);
  const auto under = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  if (under("MPI_")) return {name, op_word(name.substr(4))};
  if (under("PMPI_")) return {name.substr(1), op_word(name.substr(5))};
  if (under("nccl") || under("pnccl")) {
    const std::string plain = name[0] == 'p' ? name.substr(1) : name;
    const std::string op = op_word(plain.substr(4));
    return op.empty() ? StackCall{} : StackCall{plain, op};
  }
  // Inside of gloo are transports with a send of their own: only its own functions are calls.
  const bool gloo_call = under("gloo::") && (name.find("::", 6) == std::string::npos ||
                                             name == "gloo::rendezvous::Context::connectFullMesh");
  // c10d keeps threads of its own that wait for work: only the calls count, by their last name.
  if (gloo_call || under("c10d::ProcessGroup") || under("c10d::Work")) {
    const std::string op = op_word(last_part(name));
    return op.empty() ? StackCall{} : StackCall{name, op};
  }
  return {};
}

StackCall python_call(const PythonFrame& frame) {
  if (frame.where.rfind("distributed_c10d.py:", 0) != 0) return {};
  const std::string op = op_word(frame.function);
  return op.empty() ? StackCall{} : StackCall{"torch.distributed." + frame.function, op};
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
      return "in the kernel, not to be interrupted";
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
  // The library's own name for what it waits in says more than the kernel's.
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
  // A stripped library does not tell which call it is; the program called it all the same. Its own threads
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
  if (!rank.no_python.empty()) lines.push_back(rank.no_python);
  return lines;
}

}  // namespace rankfault
