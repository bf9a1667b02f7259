#include "harness/evidence/native_stacks.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "harness/evidence/threads.h"

namespace rankfault {
namespace {

constexpr size_t kMostFrames = 256;
constexpr size_t kMostThreads = 512;

void pause_a_moment() {
  const timespec moment{0, 200'000};
  ::nanosleep(&moment, nullptr);
}

std::string why_refused(int error) {
  if (error == ESRCH) return "the process or a thread of it ended";
  if (error != EPERM) return fmt::format("ptrace: {}", std::strerror(error));
  std::ifstream scope("/proc/sys/kernel/yama/ptrace_scope");
  int value = 0;
  if (scope >> value && value > 0)
    return fmt::format(
        "ptrace is not permitted: kernel.yama.ptrace_scope is {}; run as root, or set it to 0 for a while",
        value);
  return "ptrace is not permitted: the process belongs to another user, or a debugger already traces it";
}

// One thread of the process, stopped during the life of this object.
class HeldThread {
 public:
  HeldThread(int tid, Instant deadline) : tid_(tid) {
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      error_ = errno;
      return;
    }
    if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) error_ = errno;
    while (error_ == 0 && !stopped_) wait(deadline);
  }
  ~HeldThread() {
    // A thread that did not stop in time (state D) is released when our own thread ends.
    if (stopped_) ::ptrace(PTRACE_DETACH, tid_, nullptr, deliver_);
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  bool stopped() const { return stopped_; }
  int error() const { return error_; }

 private:
  void wait(Instant deadline) {
    int status = 0;
    const pid_t got = ::waitpid(tid_, &status, __WALL | WNOHANG);
    if (got < 0 && errno != EINTR) {
      error_ = errno;
    } else if (got == tid_ && WIFSTOPPED(status)) {
      stopped_ = true;
      // A signal that was pending is delivered at the release; our own stop is not a signal.
      if ((status >> 16) != PTRACE_EVENT_STOP) deliver_ = WSTOPSIG(status);
    } else if (got == tid_) {
      error_ = ESRCH;  // it ended in the meantime
    } else if (HostClock::now() > deadline) {
      error_ = ETIMEDOUT;
    } else {
      pause_a_moment();
    }
  }

  int tid_;
  long deliver_ = 0;
  int error_ = 0;
  bool stopped_ = false;
};

struct Walk {
  std::vector<RawFrame>* frames;
  Instant deadline;
};

int take_frame(Dwfl_Frame* frame, void* argument) {
  Walk* walk = static_cast<Walk*>(argument);
  Dwarf_Addr address = 0;
  bool is_activation = false;
  if (!dwfl_frame_pc(frame, &address, &is_activation)) return DWARF_CB_ABORT;
  walk->frames->push_back({address, !is_activation});
  return walk->frames->size() >= kMostFrames || HostClock::now() > walk->deadline ? DWARF_CB_ABORT
                                                                                  : DWARF_CB_OK;
}

// The unwinder uses the tables that every loaded file has (.eh_frame). It looks for no debug information
// while a thread is held, and never uses the network.
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                  char**) {
  return -1;
}

struct DwflEnd {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};
using DwflHandle = std::unique_ptr<Dwfl, DwflEnd>;

DwflHandle open_process_map(int pid) {
  static char no_path[] = "";
  static char* path = no_path;
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_linux_proc_find_elf,
      .find_debuginfo = no_debug_file,
      .section_address = nullptr,
      .debuginfo_path = &path,
  };
  DwflHandle dwfl(dwfl_begin(&callbacks));
  if (!dwfl || dwfl_linux_proc_report(dwfl.get(), pid) != 0 ||
      dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0 ||
      dwfl_linux_proc_attach(dwfl.get(), pid, true) != 0)
    return nullptr;
  return dwfl;
}

bool is_there(int pid, int tid) {
  for (const ThreadEvidence& t : threads_of(pid))
    if (t.tid == tid) return t.state != 'Z' && t.state != 'X';
  return false;
}

// Runs on a separate thread.
void collect(int pid, Instant deadline, NativeStacks& out) {
  const DwflHandle dwfl = open_process_map(pid);
  if (!dwfl) {
    out.why_not = fmt::format("its memory map cannot be read: {}", dwfl_errmsg(-1));
    return;
  }
  size_t left_out = 0;
  std::vector<std::pair<int, int>> refused;  // thread, error
  for (const ThreadEvidence& thread : threads_of(pid)) {
    if (HostClock::now() > deadline || out.threads.size() >= kMostThreads) {
      ++left_out;
      continue;
    }
    const HeldThread held(thread.tid, deadline);
    if (!held.stopped()) {
      // A thread that is about to end may also be refused: this says nothing about the others.
      if (held.error() == ETIMEDOUT)
        ++left_out;
      else if (held.error() != ESRCH)
        refused.push_back({thread.tid, held.error()});
      continue;
    }
    Walk walk{&out.threads[thread.tid], deadline};
    dwfl_getthread_frames(dwfl.get(), thread.tid, take_frame, &walk);
  }
  for (const auto& [tid, error] : refused)
    if (out.why_not.empty() && is_there(pid, tid)) out.why_not = why_refused(error);
  if (left_out && out.why_not.empty())
    out.why_not = fmt::format("{} threads were left out: the time limit of a process was reached", left_out);
  if (out.threads.empty() && out.why_not.empty()) out.why_not = why_refused(ESRCH);
}

}  // namespace

NativeStacks native_stacks(int pid, Duration limit) {
  NativeStacks out;
  const Instant deadline = HostClock::now() + limit;
  std::thread tracer([&] { collect(pid, deadline, out); });
  tracer.join();
  return out;
}

}  // namespace rankfault
