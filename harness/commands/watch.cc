// watch: `rankfault watch -- COMMAND...`: observes any job without a scenario. It injects nothing, leaves the
// job alone, and reports what goes wrong while the job runs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>

#include "harness/base/mask.h"
#include "harness/base/nccl_version.h"
#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/job_command.h"
#include "harness/commands/live_table.h"
#include "harness/run_scenario.h"
#include "reports/rank_table.h"
#include "reports/story.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr const char* kNeverEnded = "87600h";  // ten years: rankfault sets no limit for a watched job

struct Options {
  std::vector<std::string> words;
  int ranks = kRanksNotGiven;
  bool ranks_given = false;
  std::string after, hung_after, run_dir, runs, cuda, nccl, listen;
  std::string on_hang = "report";
  bool end_on_finding = false, unsafe_is_an_error = false, json = false, verbose = false, quiet = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault watch: {}\n", error.to_string());
  return exit_of(error);
}

Status choose_cuda(const Options& options, Workload& workload) {
  if (options.cuda != "" && options.cuda != "machine" && options.cuda != "double")
    return usage_error(fmt::format("--cuda must be machine or double, not \"{}\"", options.cuda));
  workload.cuda_double = options.cuda == "double";
  workload.nccl = options.nccl;
  if (options.nccl.empty()) return Done{};
  if (!nccl_version(options.nccl))
    return usage_error(fmt::format("--nccl must be a version such as 2.22.3, not \"{}\"", options.nccl));
  return workload.cuda_double ? Status(Done{}) : usage_error("--nccl needs --cuda double");
}

Result<Plan> plan_of(const Options& options) {
  if (options.on_hang != "report" && options.on_hang != "dump" && options.on_hang != "kill")
    return usage_error(fmt::format("--on-hang must be report, dump or kill, not \"{}\"", options.on_hang));
  if (options.ranks_given && options.ranks < 1)
    return usage_error(fmt::format("--ranks must be at least 1, not {}", options.ranks));
  Result<Scenario> scenario = watched_scenario(options.words, options.ranks, kNeverEnded);
  if (!scenario) return scenario.error();
  for (const auto& [option, text, limit] :
       {std::tuple("--after", &options.after, &scenario->workload.limits.slow_after),
        std::tuple("--hung-after", &options.hung_after, &scenario->workload.limits.hung_after)}) {
    if (text->empty()) continue;
    const Result<Duration> given = parse_duration(*text);
    if (!given) return given.error();
    if (*given <= Duration::zero()) return usage_error(fmt::format("{} must be longer than 0", option));
    *limit = *given;
  }
  if (!options.hung_after.empty() &&
      scenario->workload.limits.slow_after > scenario->workload.limits.hung_after)
    return usage_error("--after must not be longer than --hung-after");
  if (const Status chosen = choose_cuda(options, scenario->workload); !chosen) return chosen.error();
  if (scenario->workload.cuda_double && scenario->workload.launcher == LauncherKind::kTorchrun &&
      options.words[0] == "torchrun")
    scenario->workload.torchrun = "";  // that of the double, which has a PyTorch with CUDA
  return make_plan(*scenario, {});
}

void tell(RankDisplay& display, const std::string& text) {
  display.erase();
  fmt::print("{}", inert_text(masked_text(text)));
  std::fflush(stdout);
}

// Prints each finding once: when it is made, when it becomes proven, and when it is withdrawn.
class News {
 public:
  explicit News(RankDisplay& display) : display_(display) {}
  void tell_of(const std::vector<Finding>& news) {
    for (const Finding& f : news) {
      const auto [at, is_new] = told_.try_emplace(Key(f.attempt, f.kind, f.ranks, f.comm_id), f.confidence);
      const bool proven_now = !is_new && at->second != f.confidence && f.confidence == Confidence::kProven;
      at->second = f.confidence;
      if (f.withdrawn) {
        tell(display_, fmt::format("  withdrawn {}\n          {}\n", finding_line(f), f.withdrawn_because));
        told_.erase(at);
      } else if (proven_now) {
        tell(display_, fmt::format("  now     {}\n          {}\n", finding_line(f), f.text));
      } else if (is_new) {
        tell(display_, findings_text({{f}}));
      }
    }
  }

 private:
  using Key = std::tuple<int, std::string, std::vector<int>, uint64_t>;
  RankDisplay& display_;
  std::map<Key, Confidence> told_;
};

// Writes what is known of the hang to RUN/hang-N.txt. Returns a line for the user.
std::string write_hang(const Hang& hang, int number) {
  const std::string path = fmt::format("{}/hang-{}.txt", hang.run_dir, number);
  std::ofstream out(path, std::ios::trunc);
  out << masked_text(findings_text({hang.findings}) +
                     inert_text(rank_table(rank_places(hang.timeline, hang.timeline.look), 0, SIZE_MAX)) +
                     evidence_text(hang.evidence))
      << std::flush;
  return out ? fmt::format("  dumped  {}\n", path) : fmt::format("  lost    {}: the disk refused it\n", path);
}

// Findings are printed as they come. The stacks of the ranks are long: `newest` keeps them for the end.
WatchOptions watch_options(const Options& options, std::vector<RankEvidence>& newest, RankDisplay& display) {
  WatchOptions watch;
  watch.end_on_finding = options.end_on_finding || options.on_hang == "kill";
  watch.verbose = options.verbose;
  if (options.on_hang == "dump")
    watch.hangs = [&, dumps = std::make_shared<int>(0)](const Hang& hang) {
      const std::string written = write_hang(hang, ++*dumps);
      if (!options.json && !options.quiet) tell(display, written);  // standard output has the result alone
    };
  if (options.json || options.quiet) return watch;
  watch.found = [told = std::make_shared<News>(display)](const std::vector<Finding>& news) {
    told->tell_of(news);
  };
  watch.evidence = [&, now = options.verbose](const std::vector<RankEvidence>& evidence) {
    if (now)
      tell(display, evidence_text(evidence));
    else
      newest = evidence;
  };
  return watch;
}

// A lost line may contain a finding.
bool lost_lines(const FinishedRun& run) { return run.facts->lost_lines > 0 || !run.facts->ended; }

int exit_code(const FinishedRun& run, const Options& options) {
  if (!run.report.cleanup.empty()) return kExitCleanupIncomplete;
  if (run.report.judgement.not_started) return kExitUsage;
  const Findings& findings = run.facts->findings;
  if (findings.cannot_say()) return kExitUnknown;
  const bool finished = job_status(*run.facts) == "exit 0";
  if (!findings.nothing_wrong() && !(findings.only_handled() && finished)) return kExitFail;
  if (options.unsafe_is_an_error && !findings.unsafe.empty()) return kExitFail;
  if (options.unsafe_is_an_error && !findings.strict_known) return kExitUnknown;
  if (lost_lines(run)) return kExitUnknown;
  return finished ? kExitPass : kExitUnknown;
}

std::string not_known_to_be_safe(const Findings& findings, const Options& options) {
  if (!options.unsafe_is_an_error || findings.strict_known) return "";
  return "  unsafe  not known: the record does not show what another run of this program may do\n";
}

void print_end(const FinishedRun& run, const std::vector<RankEvidence>& stacks, const Options& options,
               RankDisplay& display) {
  const auto tell = [&](const std::string& text) { rankfault::tell(display, text); };
  const std::string status = job_status(*run.facts);
  if (const std::string notice = notice_line(run.report); !notice.empty()) tell(notice + "\n");
  const Findings& findings = run.facts->findings;
  const std::string stacks_of = "  stacks  of the ranks, while the job hung:\n";
  std::vector<TextPart> parts;
  if (!stacks.empty())
    parts.push_back({stacks_of + evidence_text(stacks), stacks_of + evidence_summary(stacks), 0});
  parts.push_back({(status.empty() ? "rankfault ended the job" : "the job ended: " + status) + "\n" +
                   no_rank_text(*run.facts)});
  parts.push_back(
      {(options.quiet ? findings_text : findings_summary)(findings), first_cause_text(findings), 1});
  parts.push_back({unsafe_text(findings) + remarks_text(findings) + not_known_to_be_safe(findings, options)});
  std::string tail;
  for (const std::string& what : run.report.lost) tail += fmt::format("  lost    {}\n", what);
  if (!run.report.cleanup.empty()) tail += fmt::format("  left    {}\n", run.report.cleanup);
  for (const std::string& lost : losses_of(*run.facts)) tail += fmt::format("  kept    {}\n", lost);
  tail += python_notes(*run.facts) + left_behind_text(run.facts->left_behind);
  parts.push_back({tail + fmt::format("  logs    {0}/logs\n  run     {0}\n", run.facts->run_dir)});
  const FittedText end = fit_on(options.verbose ? std::nullopt : screen_of_output(), parts);
  tell(end.text);
  if (end.shortened) tell(fmt::format("  more    rankfault report {}\n", run.facts->run_dir));
}

int watch_job(const Options& options) {
  const Result<Plan> plan = plan_of(options);
  if (!plan) return fail(plan.error());
  if (!options.runs.empty()) ::setenv("RANKFAULT_RUNS", options.runs.c_str(), 1);
  std::vector<RankEvidence> stacks;
  RankDisplay display(!options.json && !options.quiet);
  const WatchOptions watch = watch_options(options, stacks, display);
  RunOptions with;
  with.view = display.view();
  with.run_dir = options.run_dir;
  with.listen = options.listen;
  with.watch = &watch;
  with.interrupted = catch_interrupts();
  with.progress = display.progress();
  const Result<FinishedRun> run = run_scenario(*plan, with);
  display.erase();
  if (!run) return fail(run.error());
  if (options.json)
    fmt::print("{}\n", result_json(run->report).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_end(*run, stacks, options, display);
  return *with.interrupted ? 128 + *with.interrupted : exit_code(*run, options);
}

const Registration<CliCommand> kWatch{{
    "watch",
    "Run any job, and report which rank broke it and in which call",
    "Examples:\n  rankfault watch -- mpirun -np 4 ./my_program\n"
    "  rankfault watch -- torchrun --standalone --nproc_per_node=4 train.py\n"
    "  rankfault watch -- python train.py\n"
    "  rankfault watch -- srun -N4 --ntasks-per-node=8 --mpi=pmix ./my_program\n"
    "  rankfault watch --ranks 4 -- ./my_program --steps=100\n\n"
    "watch detects the launcher from the first word of the command. It starts any other program once, as it\n"
    "is; such a program may start its ranks itself. With --ranks N it starts the program N times, with RANK\n"
    "and WORLD_SIZE. It injects nothing and leaves the job alone: it changes only LD_PRELOAD and variables\n"
    "whose names begin with RANKFAULT_ (-v lists them), and it removes none of the job's files. Ctrl-C ends\n"
    "the whole job and nothing else, and then removes the shared-memory segments and sockets that it held.\n"
    "On a finding, watch takes the stacks of the ranks, and prints them at the end: it stops each thread for "
    "a\n"
    "moment.\n"
    "Exit: 0 nothing found, or only ends that the program handled, and the job exited 0, 1 a finding,\n"
    "2 cannot say, 3 cleanup incomplete, 64 usage, or the launcher failed and no rank was recorded,\n"
    "70 internal, 71 the machine refuses what a run needs,\n"
    "77 the launcher is missing, 129, 130 and 143 when interrupted.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("command", options->words, "the job's command, after --");
      CLI::Option* ranks = app.add_option(
          "--ranks", options->ranks,
          "start the program N times; for a launcher: the number of ranks, if its options do not give it");
      app.add_option("--after", options->after,
                     "report a rank as slow once others have waited this long for it (2s)");
      app.add_option("--hung-after", options->hung_after,
                     "report a hang once ranks have waited this long (20s); both limits grow with the job's "
                     "longest waits");
      app.add_flag(
          "--end-on-finding", options->end_on_finding,
          "end the job when it cannot continue: proven, or inferred as stuck_outside, wedged, order_deadlock "
          "or init_stall");
      app.add_option("--on-hang", options->on_hang,
                     "report: only report it (the default). dump: also write what every rank does to "
                     "RUN/hang-N.txt, when "
                     "ranks wait for long. kill: end the job, as --end-on-finding does");
      app.add_flag(
          "--unsafe-is-an-error", options->unsafe_is_an_error,
          "exit 1 also when the job finished only because MPI buffered a message or let a rank leave a "
          "collective early, 2 when the record does not show it");
      app.add_option(
          "--cuda", options->cuda,
          "machine, or double: NCCL's host code without a GPU; the ranks then also get LD_LIBRARY_PATH and "
          "variables of NCCL");
      app.add_option(
          "--listen", options->listen,
          "of a job on several nodes: the interface, address or host name at which they reach this host");
      app.add_option("--nccl", options->nccl,
                     "over the double: the version of NCCL; when absent, the newest");
      app.add_option("--run-dir", options->run_dir, "the directory of this run");
      app.add_option("--runs", options->runs, "the folder of run directories");
      app.add_flag_callback(
          "--no-realtime", [] { ::setenv("RANKFAULT_NO_REALTIME", "1", 1); },
          "do not use real-time priority, even where it is allowed");
      app.add_flag("--json", options->json, "print the result as JSON, at the end");
      app.add_flag(
          "-v,--verbose", options->verbose,
          "list the changes to the job's command and environment, and print stacks as they are taken");
      app.add_flag("-q,--quiet", options->quiet, "print only the result, at the end");
      return [options, ranks] {
        options->ranks_given = ranks->count() > 0;
        return watch_job(*options);
      };
    },
}};

}  // namespace
}  // namespace rankfault
