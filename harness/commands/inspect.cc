// inspect: `rankfault inspect PID`: examines a hanging job that was started without rankfault: prints the
// stacks of its ranks, and names the ranks that are outside of the call that the others are in.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "harness/base/command_line.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/evidence/calls.h"
#include "harness/evidence/findings_from_stacks.h"
#include "harness/evidence/gather.h"
#include "harness/evidence/job_ranks.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr size_t kLooks = 4;

struct Options {
  int pid = 0, torchrun = 0, mpirun = 0;
  std::string during = "2s";
  bool json = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault inspect: {}\n", error.to_string());
  return exit_of(error);
}

// With --torchrun or --mpirun, checks that the process is one: a mistyped pid may belong to another program.
Result<int> pid_of(const Options& options) {
  const int given = (options.pid != 0) + (options.torchrun != 0) + (options.mpirun != 0);
  if (given != 1) return usage_error("name one process: PID, --torchrun PID or --mpirun PID");
  if (options.pid) return options.pid;
  const int pid = options.torchrun ? options.torchrun : options.mpirun;
  const std::string command = command_line(pid);
  const std::vector<const char*> words =
      options.torchrun
          ? std::vector<const char*>{"torchrun", "torch.distributed.run", "torch.distributed.launch"}
          : std::vector<const char*>{"mpirun", "mpiexec", "orterun", "prterun"};
  if (command.empty()) return usage_error(fmt::format("process {} does not exist", pid));
  if (std::none_of(words.begin(), words.end(),
                   [&](const char* word) { return command.find(word) != std::string::npos; }))
    return usage_error(fmt::format("process {} is not {}: {}", pid, words[0], command));
  return pid;
}

// False: the user interrupted it.
bool pause_for(Duration time, const std::atomic<int>* interrupted) {
  const Instant until = HostClock::now() + time;
  while (HostClock::now() < until && !*interrupted) {
    const timespec moment{0, 10'000'000};
    ::nanosleep(&moment, nullptr);
  }
  return !*interrupted;
}

Result<StackLooks> look_at(const JobRanks& job, Duration during, const std::atomic<int>* interrupted) {
  Places places;
  StackLooks looks;
  looks.world_size = job.world_size;
  const Instant begin = HostClock::now();
  for (size_t i = 0; i < kLooks; ++i) {
    if (i > 0 && !pause_for(during / (kLooks - 1), interrupted)) return looks;
    looks.during = HostClock::now() - begin;
    std::vector<RankEvidence>& look = looks.looks.emplace_back();
    for (const JobRank& rank : job.ranks) {
      if (*interrupted) return looks;
      Result<RankEvidence> evidence = gather(rank.pid, rank.start, rank.rank, places);
      if (evidence)
        look.push_back(std::move(*evidence));
      else if (i == 0)
        return evidence.error();
    }
  }
  return looks;
}

void print(const StackLooks& looks, const Findings& findings) {
  for (const RankEvidence& rank : looks.looks.back()) {
    fmt::print("rank {}, process {}: {}\n", rank.rank, rank.pid, rank.command);
    for (const std::string& line : short_evidence(rank)) fmt::print("    {}\n", line);
  }
  for (const std::string& note : notes_of(looks.looks.back())) fmt::print("note: {}\n", note);
  fmt::print("{}", findings_text(findings));
}

int run(const Options& options) {
  const Result<int> pid = pid_of(options);
  if (!pid) return fail(pid.error());
  const Result<Duration> during = parse_duration(options.during);
  if (!during) return fail(during.error());
  if (*during <= Duration::zero()) return fail(usage_error("--during must be longer than 0"));
  const Result<JobRanks> job = ranks_below(*pid);
  if (!job) return fail(job.error());
  const std::atomic<int>* interrupted = catch_interrupts();
  const Result<StackLooks> looks = look_at(*job, *during, interrupted);
  if (*interrupted) return 128 + *interrupted;
  if (!looks) return fail(looks.error());
  const Findings findings = odd_ranks(*looks);
  if (options.json) {
    Json ranks = Json::array();
    for (const RankEvidence& rank : looks->looks.back()) ranks.push_back(to_json(rank));
    fmt::print("{}\n", Json{{"findings", to_json(findings)}, {"evidence", ranks}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  } else {
    print(*looks, findings);
  }
  if (findings.cannot_say()) return kExitUnknown;
  return findings.nothing_wrong() ? kExitPass : kExitFail;
}

const Registration<CliCommand> kCommand{
    {"inspect", "Examine a job that hangs now and was started without rankfault",
     "Examples:\n  rankfault inspect 4711            a rank, or any process above the ranks\n"
     "  rankfault inspect --torchrun $(pgrep -of torchrun)\n  rankfault inspect --mpirun 4711 --json\n\n"
     "inspect samples the ranks four times. It stops each of their threads for a moment, by ptrace and\n"
     "without a signal, and changes nothing else. Its findings are inferred, never proven.\n"
     "Exit: 0 nothing found, 1 a finding, 2 cannot say, 64 no such process, or no permission to examine it.",
     [](CLI::App& app) -> std::function<int()> {
       const auto options = std::make_shared<Options>();
       app.add_option("pid", options->pid, "a process of the job: its launcher, or a rank");
       app.add_option("--torchrun", options->torchrun, "the pid of a torchrun");
       app.add_option("--mpirun", options->mpirun, "the pid of an mpirun");
       app.add_option("--during", options->during,
                      "how long to watch the job: only what stays the same counts (2s)");
       app.add_flag("--json", options->json, "print the findings and all evidence as JSON");
       return [options] { return run(*options); };
     }}};

}  // namespace
}  // namespace rankfault
