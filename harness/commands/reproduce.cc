// reproduce: `rankfault reproduce EVIDENCE...`: makes a small scenario of what a hung job left behind, and
// runs it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/commands/reproduce_runs.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> paths;
  ReproduceOptions how;
  std::string over, out, case_file, runs;
  int times = 1;
  bool no_run = false, real_sizes = false, force = false, verbose = false, shrink = false, defences = false;
};

constexpr int kMostAbsent = 65535;

Status check(const Options& options, const std::string& out) {
  static const std::regex kName("[A-Za-z0-9_.-]{1,100}");
  if (!std::regex_match(options.how.name, kName))
    return usage_error("--name may have letters, digits, \"_\", \".\" and \"-\", at most 100");
  if (options.how.ranks < 2 || options.how.ranks > 64)
    return usage_error(fmt::format("--ranks must be from 2 to 64, not {}", options.how.ranks));
  if (!options.over.empty() && !options.how.over)
    return usage_error(fmt::format("--over must be c10d, c10d-nccl, mpi, gloo or nccl, not \"{}\"",
                                   printable(options.over)));
  if (options.how.calls < 1) return usage_error("--calls must be at least 1");
  if (options.times < 1 || options.times > 1000)
    return usage_error(fmt::format("--times must be from 1 to 1000, not {}", options.times));
  if (options.how.absent < -1 || options.how.absent > kMostAbsent)
    return usage_error(fmt::format("--absent must be from 0 to {}, not {}", kMostAbsent, options.how.absent));
  if (out == options.case_file) return usage_error("--case and --out name one file");
  for (const std::string& path : {out, options.case_file}) {
    std::error_code none;
    if (!options.force && !path.empty() &&
        std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::not_found)
      return usage_error(printable(path) + " exists: name another file, or give --force");
  }
  return Done{};
}

// A line on the terminal while a large log is read.
std::function<void(uint64_t, uint64_t)> progress_on_terminal() {
  if (!::isatty(STDERR_FILENO)) return {};
  return [](uint64_t done, uint64_t total) {
    const bool is_over = done >= total;
    fmt::print(stderr, "\r{}",
               is_over ? std::string(30, ' ') + "\r" : fmt::format("reading logs: {} %", done * 100 / total));
  };
}

const char* word_of(ClueKind kind) {
  static constexpr const char* kWords[] = {"gave up", "progress", "disagree", "not joined", "lost",
                                           "ended",   "host",     "error",    "stack"};
  return kWords[static_cast<size_t>(kind)];
}

void print_clues(const std::vector<Clue>& clues) {
  for (const Clue& c : clues)
    say(word_of(c.kind),
        fmt::format("{}:{}: {}{}{}{}", c.file, c.line, c.rank < 0 ? "" : fmt::format("rank {}: ", c.rank),
                    c.op, c.op.empty() ? "" : ": ", c.text));
}

void print_case(const Case& whole, const Case& small) {
  for (const CaseEvidence& e : whole.evidence) say("evidence", fmt::format("{} {}", e.kind, e.path));
  if (whole.state.hangs())
    say("says", fmt::format("{} ({}): {}", whole.state.kind, whole.state.proven ? "proven" : "inferred",
                            whole.state.text));
  for (const std::string& known : small.known) say("known", known);
  if (const std::string folded = folded_text(small); !folded.empty()) say("folded", folded);
  for (const std::string& guess : small.guessed) say("guessed", guess);
  for (const std::string& question : small.questions) say("question", question);
}

Status write_case(const Options& options, const Understood& understood) {
  const bool is_small = understood.whole.state.hangs();
  const Json json = masked(to_json(is_small ? understood.small : understood.whole));
  const Status done =
      write_text(options.case_file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (done) say("wrote", options.case_file);
  return done;
}

int run_it(const Options& options, const std::string& out, const Understood& understood, Written& written) {
  const ReproduceRuns all{out, understood.digest, options.times, options.how, catch_interrupts()};
  int code = run_to_confirm(all, written, understood.small);
  if (code == kExitPass && options.shrink)
    code = run_to_shrink(all, understood.small, written.form.expected_kind);
  if (code == kExitPass && options.defences)
    code = run_with_defences(all, written, understood.small.limit_ms);
  return code;
}

int not_made(const std::string& why) {
  say("not made", why);
  return kExitUnknown;
}

int reproduce(const Options& options) {
  const std::string out = options.out.empty() ? options.how.name + ".yaml" : options.out;
  if (const Status may = check(options, out); !may) return fail_to_reproduce(may.error());
  const Result<EvidenceFiles> files = evidence_files(options.paths);
  if (!files) return fail_to_reproduce(files.error());
  const Result<Understood> understood = understand(*files, options.how);
  if (!understood) return fail_to_reproduce(understood.error());
  if (options.verbose) print_clues(understood->clues);
  print_case(understood->whole, understood->small);
  if (!options.case_file.empty())
    if (const Status done = write_case(options, *understood); !done) return fail_to_reproduce(done.error());
  if (!understood->whole.state.hangs())
    return not_made(understood->whole.known.empty() ? "the evidence shows no hang that calls can show"
                                                    : "the evidence does not show which rank did not come");
  Result<Written> written = write_scenario(understood->small, understood->digest, options.how);
  if (!written) return not_made(written.error().message);
  if (const Status done = write_text(out, written->text); !done) return fail_to_reproduce(done.error());
  say("wrote",
      fmt::format("{}: {} ranks over {}", out, written->replay.healthy.size(), to_text(written->form.over)));
  const int code = options.no_run ? int{kExitPass} : run_it(options, out, *understood, *written);
  if (code == kExitPass) say("next", "rankfault run " + out);
  return code;
}

const Registration<CliCommand> kReproduce{{
    "reproduce",
    "Make a small scenario of what a hung job left behind, and run it",
    "Examples:\n  rankfault reproduce /tmp/nccl_trace_dumps\n"
    "  rankfault reproduce rankfault-runs/watch-20261128-101500 --name lost-batch --times 3\n"
    "  rankfault reproduce slurm-1234.out\n\n"
    "The evidence: folders or files of Flight Recorder dumps, the directory of a run that `rankfault watch` "
    "recorded,\n"
    "and logs. The scenario has at most --ranks ranks, which perform the recorded calls before the hang; the "
    "divergence\n"
    "is a fault, or lines of the program that its `bug` switches on. The run reproduces the hang if the same "
    "ranks\n"
    "wait in the same operation for the same reason.\n"
    "Exit: 0 reproduced, 1 the small job does something else, 2 the evidence shows no hang, or none that "
    "calls can "
    "show,\n"
    "64 usage, 70 internal, 71 the machine refuses what a run needs, 77 a library or a launcher is missing,\n"
    "129, 130 and 143 when interrupted.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("evidence", options->paths, "files and folders of one job")->required();
      app.add_option("--name", options->how.name, "the name of the scenario (reproduced)");
      app.add_option("--out", options->out, "the scenario file (NAME.yaml); one that exists is left alone");
      app.add_flag("--force", options->force, "write over files that exist");
      app.add_option("--case", options->case_file, "also write what is known to this file, as JSON");
      app.add_option("--ranks", options->how.ranks, "the most ranks of the small job (8)");
      app.add_option("--absent", options->how.absent,
                     "of logs that do not show it: take this rank for the one that did not come");
      app.add_option("--calls", options->how.calls, "the most calls of a rank before the divergence (48)");
      app.add_flag("--real-sizes", options->real_sizes, "keep the counts of elements");
      app.add_option(
          "--over", options->over,
          "c10d, c10d-nccl (the double of CUDA), mpi, gloo or nccl; when absent, what the evidence used, "
          "and c10d over Gloo for PyTorch");
      app.add_option("--times", options->times, "run the scenario N times (1)");
      app.add_flag("--shrink", options->shrink,
                   "leave out ranks, calls and elements while the job hangs in the same way 3 times of 3");
      app.add_flag("--defences", options->defences,
                   "also run the small job with each defence that a trainer can have, and say which would "
                   "have caught the "
                   "hang");
      app.add_flag("--no-run", options->no_run, "only write the scenario");
      app.add_flag("-v,--verbose", options->verbose, "print each message of a log that was understood");
      app.add_option("--runs", options->runs, "the folder of run directories");
      return [options] {
        if (options->real_sizes) options->how.count = 0;
        options->how.over = replay_over_of(options->over);
        options->how.log_progress = progress_on_terminal();
        if (!options->runs.empty()) ::setenv("RANKFAULT_RUNS", options->runs.c_str(), 1);
        return reproduce(*options);
      };
    },
}};

}  // namespace
}  // namespace rankfault
