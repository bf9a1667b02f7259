// exit_report: how launchers say that processes ended: torchrun, DeepSpeed, Slurm, and the kernel.
#include <algorithm>
#include <utility>

#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kClosing = "closing signal SIG";
constexpr std::string_view kVia = " via signal SIG";
constexpr std::string_view kFailed = "failed (exitcode: ";
constexpr std::string_view kKilling = "Killing subprocess ";
constexpr std::string_view kReturn = "exits with return code = ";
constexpr std::string_view kSuccess = " exits successfully.";
constexpr std::string_view kSrun = "srun: error: ";
constexpr std::string_view kCancelled = " CANCELLED AT ";
constexpr std::string_view kOomEvent = "oom_kill event";
constexpr std::string_view kOomEvents = "oom-kill event";
constexpr std::string_view kKernel = "Out of memory: Killed process ";
constexpr const char* kByLauncher = "the launcher ended it";

struct Signal {
  std::string_view name;
  int number;
};
constexpr Signal kSignals[] = {{"TERM", 15}, {"KILL", 9}, {"INT", 2}, {"HUP", 1}, {"QUIT", 3}, {"ABRT", 6}};
// Slurm's words, those of strsignal.
constexpr Signal kEnds[] = {{"Killed", 9},
                            {"Terminated", 15},
                            {"Aborted", 6},
                            {"Segmentation fault", 11},
                            {"Bus error", 7},
                            {"Hangup", 1},
                            {"Interrupt", 2},
                            {"Floating point exception", 8},
                            {"Illegal instruction", 4},
                            {"Out Of Memory", 9}};

int signal_of(std::string_view name) {
  for (const Signal& signal : kSignals)
    if (name.substr(0, signal.name.size()) == signal.name) return signal.number;
  return -1;
}

class ExitReport : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kClosing, kVia,       kFailed,   kKilling,   kReturn, kSuccess,
            kSrun,    kCancelled, kOomEvent, kOomEvents, kKernel};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    torchrun(line, clues);
    deepspeed(line, clues);
    slurm(line, clues);
    kernel(line, clues);
  }

 private:
  static Clue end_at(const LogLine& line, size_t at) { return clue_at(line, at, ClueKind::kEnded); }

  // "Sending process 12 closing signal SIGTERM", "Closing process 12 via signal SIGTERM", "failed (exitcode:
  // -9) local_rank: 2 (pid: 12) of binary: /usr/bin/python".
  static void torchrun(const LogLine& line, std::vector<Clue>& clues) {
    for (const auto& [begin, words] : {std::pair(std::string_view("Sending process "), kClosing),
                                       std::pair(std::string_view("Closing process "), kVia)}) {
      const size_t at = line.text.find(begin);
      if (at == std::string::npos) continue;
      Scan scan(line.text, at + begin.size());
      Clue clue = end_at(line, at);
      clue.pid = scan.number().value_or(-1);
      scan.skip(" ");
      if (clue.pid < 0 || !(Scan(line.text, scan.at() - (words == kVia ? 1 : 0))).skip(words)) continue;
      scan.find("SIG");
      clue.signal = signal_of(scan.rest());
      clue.reason = kByLauncher;
      clues.push_back(std::move(clue));
    }
    if (const size_t at = line.text.find(kFailed); at != std::string::npos) {
      Scan scan(line.text, at + kFailed.size());
      Clue clue = end_at(line, at);
      say_status(clue, scan.number());
      if (!scan.skip(") local_rank: ") || (clue.code < 0 && clue.signal < 0)) return;
      if (const int local = as_int(scan.number()); clue.rank < 0 && local >= 0) {
        clue.rank = local;
        clue.rank_is_local = true;
      }
      if (scan.skip(" (pid: ")) clue.pid = scan.number().value_or(-1);
      clues.push_back(std::move(clue));
    }
  }

  // "[launch.py:315:sigkill_handler] Killing subprocess 13266", "[...] ['python', ..., '--local_rank=3', ...]
  // exits with return code = -9", "[launch.py:348:main] Process 4021 exits successfully."
  static void deepspeed(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kKilling); at != std::string_view::npos) {
      Clue clue = end_at(line, at);
      clue.pid = Scan(text, at + kKilling.size()).number().value_or(-1);
      clue.reason = kByLauncher;
      if (clue.pid > 0) clues.push_back(std::move(clue));
    }
    if (const size_t at = text.find(kReturn); at != std::string_view::npos) {
      Clue clue = end_at(line, at);
      say_status(clue, Scan(text, at + kReturn.size()).number());
      const int64_t local = number_after(text.substr(0, at), "--local_rank=");
      if (clue.rank < 0 && as_int(local) >= 0) {
        clue.rank = as_int(local);
        clue.rank_is_local = true;
      }
      if (clue.code >= 0 || clue.signal >= 0) clues.push_back(std::move(clue));
    }
    if (const size_t at = text.find(kSuccess); at != std::string_view::npos) {
      const size_t word = text.rfind("Process ", at);
      if (word == std::string_view::npos) return;
      Scan scan(text, word + 8);
      Clue clue = end_at(line, word);
      clue.pid = scan.number().value_or(-1);
      clue.code = 0;
      if (clue.pid > 0 && scan.at() == at) clues.push_back(std::move(clue));
    }
  }

  // "srun: error: node-3: task 17: Killed", "srun: error: node-3: tasks 0-3,7: Exited with exit code 1". The
  // tasks are the ranks if srun starts them, and agents if it starts torchrun: `host_call` says whose they
  // are.
  static void slurm(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kSrun); at != std::string_view::npos) {
      Scan scan(text, at + kSrun.size());
      const std::string_view host = scan.until(": ");
      const bool is_task = scan.skip("task ") || scan.skip("tasks ");
      Clue clue = end_at(line, at);
      if (is_task) clue.about = scan.ranks();
      if (!clue.about.empty() && scan.skip(": ")) {
        clue.host = message_text(host, 0);
        clue.host_call = "srun task";
        clue.reason = message_text(scan.rest(), 0);
        for (const Signal& end : kEnds)
          if (scan.rest().substr(0, end.name.size()) == end.name) clue.signal = end.number;
        if (scan.skip("Exited with exit code ")) clue.code = as_int(scan.number(), 255);
        if (clue.code >= 0 || clue.signal >= 0) clues.push_back(std::move(clue));
      }
    }
    if (const size_t at = text.find(kCancelled);
        at != std::string_view::npos && text.find("slurmstepd: ") < at) {
      Clue clue = end_at(line, text.find("***"));
      clue.reason = text.find("DUE TO TIME LIMIT") != std::string_view::npos ? "time limit" : "cancelled";
      if (Scan on(text.substr(0, at)); on.find(" ON ")) clue.host = message_text(on.rest(), 0);
      clues.push_back(std::move(clue));
    }
  }

  static void kernel(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t event = std::min(text.find(kOomEvent), text.find(kOomEvents));
    if (event != std::string_view::npos && text.find("etected ") < event) {
      Clue clue = clue_at(line, text.find("etected ") - 1, ClueKind::kHostResource);
      clue.reason = "out of memory";
      clue.host_call = "memory of the control group";
      clues.push_back(std::move(clue));
    }
    if (const size_t at = text.find(kKernel); at != std::string_view::npos) {
      Clue clue = end_at(line, at);
      clue.pid = Scan(text, at + kKernel.size()).number().value_or(-1);
      clue.signal = 9;
      clue.reason = "out of memory";
      if (clue.pid > 0) clues.push_back(std::move(clue));
    }
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"exit_report", "ends of processes as torchrun, DeepSpeed, Slurm and the kernel report them",
     [] { return std::unique_ptr<ClueReader>(new ExitReport); }}};

}  // namespace
}  // namespace rankfault
