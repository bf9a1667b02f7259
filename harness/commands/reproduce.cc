// reproduce: `rankfault reproduce EVIDENCE...`: makes a small scenario of what a hung job left behind, and
// runs it.
#include "harness/reproduce/reproduce.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/base/rank_words.h"
#include "harness/commands/command.h"
#include "harness/commands/interrupt.h"
#include "harness/reproduce/confirm.h"
#include "harness/reproduce/defences.h"
#include "harness/reproduce/shrink.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> paths;
  ReproduceOptions how;
  std::string out, case_file, runs;
  int times = 1;
  bool no_run = false, real_sizes = false, force = false, verbose = false, shrink = false, defences = false;
};

int fail(const Error& error) {
  fmt::print(stderr, "rankfault reproduce: {}\n", error.to_string());
  return exit_of(error);
}

void say(const char* word, const std::string& text) {
  fmt::print("{:<10} {}\n", word, inert_text(printable(masked_text(text))));
  std::fflush(stdout);
}

constexpr int kMostAbsent = 65535;

Status check(const Options& options, const std::string& out) {
  static const std::regex kName("[A-Za-z0-9_.-]{1,100}");
  if (!std::regex_match(options.how.name, kName))
    return usage_error("--name may have letters, digits, \"_\", \".\" and \"-\", at most 100");
  if (options.how.ranks < 2 || options.how.ranks > 64)
    return usage_error(fmt::format("--ranks must be from 2 to 64, not {}", options.how.ranks));
  if (!options.how.over.empty() && !replay_over_of(options.how.over))
    return usage_error(fmt::format("--over must be c10d, c10d-nccl, mpi, gloo or nccl, not \"{}\"",
                                   printable(options.how.over)));
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

Status write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text << std::flush;
  return out ? Status(Done{}) : errno_error("write " + path);
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

// The log does not show why a rank did not come: the small job says what its own reason looks like, and the
// file expects that.
Status expect_kind(Written& written, const std::string& kind, const std::string& path) {
  written.form.expected_kind = kind;
  written.text = scenario_text(written.small, written.replay, written.form);
  return write(path, written.text);
}

// Runs the scenario `times` times. Returns the exit code.
int run_it(const Options& options, const std::string& path, Written& written, const Case& wanted) {
  const std::atomic<int>* interrupted = catch_interrupts();
  int reproduced = 0;
  for (int i = 1; i <= options.times; ++i) {
    const Result<Confirmation> run = confirm(written.text, path, wanted, {options.runs, interrupted});
    if (*interrupted) return 128 + *interrupted;
    if (!run) return fail(run.error());
    reproduced += run->reproduced;
    if (run->reproduced && run->got.kind != wanted.state.kind && wanted.state.kind_is_guessed)
      if (const Status done = expect_kind(written, run->got.kind, path); !done) return fail(done.error());
    if (run->reproduced)
      say("same", fmt::format("after {:.1f} s: {}", run->to_finding_s, run->got.text));
    else
      say("differs", fmt::format("{}: {}", run->why_not, run->got.text)), say("run", run->run_dir);
  }
  say(reproduced == options.times ? "reproduced" : "different",
      fmt::format("the same hang in {} of {} run{}", reproduced, options.times,
                  options.times == 1 ? "" : "s"));
  return reproduced == options.times ? kExitPass : kExitFail;
}

constexpr int kTimesToStay = 3;  // a smaller job stays if it hangs in the same way three times of three

// Leaves out what the hang does not need, and writes the file again. Returns the exit code.
int shrink_it(const Options& options, const std::string& path, const Case& small, const std::string& digest,
              const std::string& expected_kind) {
  const std::atomic<int>* interrupted = catch_interrupts();
  const StillHangs hangs = [&](const Case& c) {
    const Result<Written> written = write_scenario(c, digest, options.how);
    for (int i = 0; written && i < kTimesToStay; ++i) {
      const Result<Confirmation> run = confirm(written->text, path, c, {options.runs, interrupted});
      if (*interrupted || !run || !run->reproduced) return false;
    }
    return written.ok();
  };
  Case smallest = shrink(small, hangs, [](const std::string& what) { say("smaller", what); });
  if (*interrupted) return 128 + *interrupted;
  smallest.known.push_back(
      fmt::format("shrunk while the job hung in the same way {0} times of {0}", kTimesToStay));
  Result<Written> written = write_scenario(smallest, digest, options.how);
  if (!written) return fail(written.error());
  if (const Status done = expect_kind(*written, expected_kind, path); !done) return fail(done.error());
  say("wrote", fmt::format("{}: {} ranks", path, written->replay.healthy.size()));
  return kExitPass;
}

std::string noticed_text(const Defended& run, int64_t limit_ms) {
  if (!run.caught) return "does not catch it";
  std::string text = fmt::format("catches it after {:.1f} s", run.after_s);
  const double earlier = static_cast<double>(limit_ms) / 1e3 - run.after_s;
  if (limit_ms > 0 && earlier > 0)
    text += fmt::format(", {:.0f} s before the limit of the evidence", earlier);
  return text + (run.said.empty() ? "" : ": " + run.said);
}

// Runs the small job with each defence. Returns the exit code.
int defend_it(const Options& options, const std::string& path, const Written& written, int64_t limit_ms) {
  const std::atomic<int>* interrupted = catch_interrupts();
  for (const Defence& defence : defences()) {
    const Result<Defended> run = defend(written, path, defence, {options.runs, interrupted});
    if (*interrupted) return 128 + *interrupted;
    if (!run) return fail(run.error());
    say("defence", fmt::format("{}: {}", defence.name, noticed_text(*run, limit_ms)));
  }
  return kExitPass;
}

int reproduce(const Options& options) {
  const std::string out = options.out.empty() ? options.how.name + ".yaml" : options.out;
  if (const Status may = check(options, out); !may) return fail(may.error());
  const Result<EvidenceFiles> files = evidence_files(options.paths);
  if (!files) return fail(files.error());
  const Result<Understood> understood = understand(*files, options.how);
  if (!understood) return fail(understood.error());
  if (options.verbose) print_clues(understood->clues);
  print_case(understood->whole, understood->small);
  if (!options.case_file.empty()) {
    const Case& whole = understood->whole;
    const Json json = masked(to_json(whole.state.hangs() ? understood->small : whole));
    if (const Status done =
            write(options.case_file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        !done)
      return fail(done.error());
    say("wrote", options.case_file);
  }
  if (!understood->whole.state.hangs()) {
    say("not made", understood->whole.known.empty() ? "the evidence shows no hang that calls can show"
                                                    : "the evidence does not show which rank did not come");
    return kExitUnknown;
  }
  Result<Written> written = write_scenario(understood->small, understood->digest, options.how);
  if (!written) {
    say("not made", written.error().message);
    return kExitUnknown;
  }
  if (const Status done = write(out, written->text); !done) return fail(done.error());
  say("wrote",
      fmt::format("{}: {} ranks over {}", out, written->replay.healthy.size(), to_text(written->form.over)));
  if (!options.no_run) {
    const int code = run_it(options, out, *written, understood->small);
    if (code != kExitPass) return code;
    if (options.shrink)
      if (const int shrunk =
              shrink_it(options, out, understood->small, understood->digest, written->form.expected_kind);
          shrunk != kExitPass)
        return shrunk;
    if (options.defences)
      if (const int defended = defend_it(options, out, *written, understood->small.limit_ms);
          defended != kExitPass)
        return defended;
  }
  say("next", "rankfault run " + out);
  return kExitPass;
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
          "--over", options->how.over,
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
        options->how.log_progress = progress_on_terminal();
        return reproduce(*options);
      };
    },
}};

}  // namespace
}  // namespace rankfault
