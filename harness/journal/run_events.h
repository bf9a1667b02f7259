// run_events: the journal lines about the run, its attempts and its processes.
#pragma once

#include "harness/journal/event.h"

namespace rankfault::events {

struct RunBegin {
  static constexpr EventDoc kDoc{"run_begin", Section::kRun, "first"};
  std::string scenario, digest, file, tooth;
  bool bug_on = false, faults_on = false;
  uint64_t seed = 0;
  std::string version;
  int64_t abi = 0;
  std::string kernel;
  int64_t cores = 0;
  int world_size = 0;
  std::string launcher, cuda_double, reference_run;
  std::optional<Duration> slow_after_ns, hung_after_ns;

  static void keys(auto&& key) {
    key("scenario", &RunBegin::scenario);
    key("digest", &RunBegin::digest, "of the scenario's text and of what was applied to it");
    key("file", &RunBegin::file);
    key("tooth", &RunBegin::tooth, "id of the mutation check that is on, or \"\"");
    key("bug_on", &RunBegin::bug_on);
    key("faults_on", &RunBegin::faults_on);
    key("seed", &RunBegin::seed);
    key("version", &RunBegin::version, "of rankfault");
    key("abi", &RunBegin::abi, "version of the flight records");
    key("kernel", &RunBegin::kernel);
    key("cores", &RunBegin::cores);
    key("world_size", &RunBegin::world_size);
    key("launcher", &RunBegin::launcher);
    key("cuda_double", &RunBegin::cuda_double, "version of NCCL; \"\" without the double");
    key("reference_run", &RunBegin::reference_run, "its directory; \"\" when there is none");
    key("slow_after_ns", &RunBegin::slow_after_ns, "the least wait that is reported as slow");
    key("hung_after_ns", &RunBegin::hung_after_ns, "the least wait that is reported as hung");
  }
};

struct Mounted {
  static constexpr EventDoc kDoc{
      "mounted", Section::kRun,
      "the guardian mounted a small file system there for this job alone: /dev/shm, or a folder below its "
      "TMPDIR"};
  std::string fault, path;
  int64_t bytes = 0;

  static void keys(auto&& key) {
    key("fault", &Mounted::fault);
    key("path", &Mounted::path);
    key("bytes", &Mounted::bytes);
  }
};

struct AttemptBegin {
  static constexpr EventDoc kDoc{"attempt_begin", Section::kRun, "before an attempt is launched"};
  int attempt = 0;

  static void keys(auto&& key) { key("attempt", &AttemptBegin::attempt); }
};

struct Spawned {
  static constexpr EventDoc kDoc{"spawned", Section::kRun, "the guardian started it"};
  uint32_t tag = 0;
  int rank = -1;
  std::optional<bool> ends_all;
  std::optional<int> attempt;
  int pid = 0;
  uint64_t start = 0;
  std::vector<std::string> argv, told_anyway;

  static void keys(auto&& key) {
    key("tag", &Spawned::tag);
    key("rank", &Spawned::rank, "-1: a launcher program");
    key("ends_all", &Spawned::ends_all, "it ends all its ranks when one ended badly");
    key("attempt", &Spawned::attempt);
    key("pid", &Spawned::pid);
    key("start", &Spawned::start);
    key("argv", &Spawned::argv);
    key("told_anyway", &Spawned::told_anyway,
        "variables that a `start` fault sets to the value that they have anyway");
  }
};

struct Node {
  static constexpr EventDoc kDoc{"node", Section::kRun,
                                 "the guardian of a node of the job, seen from the tool"};
  std::string node, address, state, why;

  static void keys(auto&& key) {
    key("node", &Node::node, "its name");
    key("address", &Node::address);
    key("state", &Node::state, "`joined`, `silent`, `back`, `refused`; `left`: all its tasks had ended");
    key("why", &Node::why);
  }
};

struct Coverage {  // what the agent sees of one library
  std::string library, hook, decoder;
  uint32_t version = 0;
  std::string reason;

  static void keys(auto&& key) {
    key("library", &Coverage::library);
    key("hook", &Coverage::hook, "`preload`, `shim`, `linked`, `none`");
    key("decoder", &Coverage::decoder);
    key("version", &Coverage::version);
    key("reason", &Coverage::reason);
  }
};

struct Process {
  static constexpr EventDoc kDoc{
      "process", Section::kRun,
      "a flight record appeared or announced something new. A program that a rank executes (git, nvidia-smi) "
      "gets a line only if it still runs when the attempt ends"};
  std::optional<ProcessId> process;
  int rank = -1, world_size = 0;
  std::string stage;
  int attempt = 0;
  uint32_t generation = 0;
  std::vector<Coverage> coverage;
  std::string python;
  std::optional<int> pid;
  std::optional<Json> env;

  static void keys(auto&& key) {
    key("process", &Process::process);
    key("rank", &Process::rank);
    key("world_size", &Process::world_size);
    key("stage", &Process::stage, "`candidate`, `member`, `finalized`, `stranger`");
    key("attempt", &Process::attempt);
    key("generation", &Process::generation);
    key("coverage", &Process::coverage,
        "for each library: library, hook (`preload`, `shim`, `linked`, `none`), decoder, version, reason");
    key("python", &Process::python,
        "its version of Python, and why its calls have no Python frames; empty without Python");
    key("pid", &Process::pid, "where a `start` fault changes variables");
    key("env", &Process::env,
        "where a `start` fault changes variables; a secret value is `***` and a number by which it can be "
        "compared within the run");
  }
};

struct RankEnd {
  static constexpr EventDoc kDoc{
      "rank_end", Section::kRun,
      "a process of the job ended. The line is written again if its status becomes known later"};
  std::optional<ProcessId> process;
  int rank = -1, attempt = 0;
  Instant time;
  std::string kind;
  int value = 0;
  std::string source;
  std::vector<std::string> last_words;
  std::string oom_kill_in;

  static void keys(auto&& key) {
    key("process", &RankEnd::process);
    key("rank", &RankEnd::rank);
    key("attempt", &RankEnd::attempt);
    key("time", &RankEnd::time);
    key("kind", &RankEnd::kind, "`exit`, `signal`, `unknown`");
    key("value", &RankEnd::value);
    key("source", &RankEnd::source,
        "of the status: `waited`, `kernel`, `own_record`, `our_signal`, `launcher`, `unknown`");
    key("last_words", &RankEnd::last_words, "the last lines that it wrote");
    key("oom_kill_in", &RankEnd::oom_kill_in,
        "after SIGKILL: where the kernel counted a kill by its out-of-memory killer; else empty");
  }
};

struct LauncherEnd {
  static constexpr EventDoc kDoc{"launcher_end", Section::kRun, "the launcher program ended"};
  int attempt = 0, pid = 0;
  std::string kind;
  int value = 0;

  static void keys(auto&& key) {
    key("attempt", &LauncherEnd::attempt);
    key("pid", &LauncherEnd::pid);
    key("kind", &LauncherEnd::kind, "`exit`, `signal`");
    key("value", &LauncherEnd::value);
  }
};

struct NoRank {
  static constexpr EventDoc kDoc{
      "no_rank", Section::kRun,
      "at the end of an attempt of a launcher, if no process was recorded as a rank"};
  int attempt = 0;
  std::string launcher, status, log;
  std::vector<std::string> last;

  static void keys(auto&& key) {
    key("attempt", &NoRank::attempt);
    key("launcher", &NoRank::launcher, "with `launcher: command`, the name of its program");
    key("status", &NoRank::status, "\"\" when not known");
    key("log", &NoRank::log, "in the run directory");
    key("last", &NoRank::last, "its last lines");
  }
};

struct LauncherHung {
  static constexpr EventDoc kDoc{
      "launcher_hung", Section::kRun,
      "all ranks were gone for 8 s and the launcher, which restarts none, still ran. rankfault then ends it"};
  int attempt = 0, pid = 0;
  Instant ranks_gone;

  static void keys(auto&& key) {
    key("attempt", &LauncherHung::attempt);
    key("pid", &LauncherHung::pid);
    key("ranks_gone", &LauncherHung::ranks_gone, "when the last rank ended");
  }
};

struct Starved {
  static constexpr EventDoc kDoc{
      "starved", Section::kRun,
      "rankfault's own timer was late by more than `period_ns`: `late_ns` in all, between `since` and "
      "`until`. At most one line a second; in a long starved run a line sums up more, about 3,000 lines a "
      "day"};
  Duration late_ns{};
  std::optional<Instant> since, until;
  Duration period_ns{};
  std::string pressure;

  static void keys(auto&& key) {
    key("late_ns", &Starved::late_ns);
    key("since", &Starved::since);
    key("until", &Starved::until);
    key("period_ns", &Starved::period_ns);
    key("pressure", &Starved::pressure, "the first line of /proc/pressure/cpu");
  }
};

struct NotComputed {
  static constexpr EventDoc kDoc{"not_computed", Section::kRun,
                                 "at the end of an attempt over the double of CUDA: a process launched this "
                                 "many kernels that the double does not compute"};
  int attempt = 0, pid = 0;
  uint64_t kernels = 0;

  static void keys(auto&& key) {
    key("attempt", &NotComputed::attempt);
    key("pid", &NotComputed::pid);
    key("kernels", &NotComputed::kernels);
  }
};

struct History {
  static constexpr EventDoc kDoc{"history", Section::kRun,
                                 "before `attempt_end`, if some records are no longer there"};
  uint64_t window_calls = 0, let_go = 0, overwritten = 0, laps = 0, removed = 0;

  static void keys(auto&& key) {
    key("window_calls", &History::window_calls, "the calls of each lane that are kept");
    key("let_go", &History::let_go, "records that were read and are no longer kept");
    key("overwritten", &History::overwritten, "records that a ring overwrote before they were read");
    key("laps", &History::laps, "`overwritten` in rings of records");
    key("removed", &History::removed, "records that were saved, and removed again to stay below the limit");
  }
};

struct AttemptEnd {
  static constexpr EventDoc kDoc{"attempt_end", Section::kRun, "after the last look of the attempt"};
  int attempt = 0;
  std::string end, status;

  static void keys(auto&& key) {
    key("attempt", &AttemptEnd::attempt);
    key("end", &AttemptEnd::end, "`over`, `wall`, `decided`, `interrupted`, `guardian_lost`");
    key("status", &AttemptEnd::status, "the first bad status of what rankfault started, as text; else its 0");
  }
};

struct LogMarker {
  static constexpr EventDoc kDoc{"log_marker", Section::kRun,
                                 "a `markers:` expression matched; read after the last attempt"};
  int rank = -1, attempt = 0;
  std::string file;
  uint64_t offset = 0;
  std::string marker, text;

  static void keys(auto&& key) {
    key("rank", &LogMarker::rank);
    key("attempt", &LogMarker::attempt);
    key("file", &LogMarker::file);
    key("offset", &LogMarker::offset);
    key("marker", &LogMarker::marker);
    key("text", &LogMarker::text);
  }
};

struct Teardown {
  static constexpr EventDoc kDoc{"teardown", Section::kRun, "before rankfault ends anything of the job"};
  std::string reason;

  static void keys(auto&& key) { key("reason", &Teardown::reason, "as `end` of `attempt_end`"); }
};

struct RunEnd {
  static constexpr EventDoc kDoc{"run_end", Section::kRun, "last"};

  static void keys(auto&&) {}
};

}  // namespace rankfault::events
