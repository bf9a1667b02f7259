#include "harness/commands/reproduce_runs.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/reproduce/confirm.h"
#include "harness/reproduce/defences.h"
#include "harness/reproduce/shrink.h"

namespace rankfault {
namespace {

constexpr int kTimesToStay = 3;  // a smaller job stays if it hangs in the same way three times of three

// The log does not show why a rank did not come: the small job says what its own reason looks like, and the
// file expects that.
Status expect_kind(Written& written, const std::string& kind, const std::string& path) {
  written.form.expected_kind = kind;
  written.text = scenario_text(written.small, written.replay, written.form);
  return write_text(path, written.text);
}

std::string noticed_text(const Defended& run, int64_t limit_ms) {
  if (!run.caught) return "does not catch it";
  std::string text = fmt::format("catches it after {:.1f} s", run.after_s);
  const double earlier = static_cast<double>(limit_ms) / 1e3 - run.after_s;
  if (limit_ms > 0 && earlier > 0)
    text += fmt::format(", {:.0f} s before the limit of the evidence", earlier);
  return text + (run.said.empty() ? "" : ": " + run.said);
}

}  // namespace

int fail_to_reproduce(const Error& error) {
  fmt::print(stderr, "rankfault reproduce: {}\n", error.to_string());
  return exit_of(error);
}

void say(const char* word, const std::string& text) {
  fmt::print("{:<10} {}\n", word, inert_text(printable(masked_text(text))));
  std::fflush(stdout);
}

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text << std::flush;
  return out ? Status(Done{}) : errno_error("write " + path);
}

int run_to_confirm(const ReproduceRuns& all, Written& written, const Case& wanted) {
  int reproduced = 0;
  for (int i = 1; i <= all.times; ++i) {
    const Result<Confirmation> run = confirm(written.text, all.path, wanted, all.interrupted);
    if (*all.interrupted) return 128 + *all.interrupted;
    if (!run) return fail_to_reproduce(run.error());
    reproduced += run->reproduced;
    if (run->reproduced && run->got.kind != wanted.state.kind && wanted.state.kind_is_guessed)
      if (const Status done = expect_kind(written, run->got.kind, all.path); !done)
        return fail_to_reproduce(done.error());
    if (run->reproduced)
      say("same", fmt::format("after {:.1f} s: {}", run->to_finding_s, run->got.text));
    else
      say("differs", fmt::format("{}: {}", run->why_not, run->got.text)), say("run", run->run_dir);
  }
  say(reproduced == all.times ? "reproduced" : "different",
      fmt::format("the same hang in {} of {} run{}", reproduced, all.times, all.times == 1 ? "" : "s"));
  return reproduced == all.times ? kExitPass : kExitFail;
}

int run_to_shrink(const ReproduceRuns& all, const Case& small, const std::string& expected_kind) {
  const StillHangs hangs = [&](const Case& c) {
    const Result<Written> written = write_scenario(c, all.digest, all.how);
    for (int i = 0; written && i < kTimesToStay; ++i) {
      const Result<Confirmation> run = confirm(written->text, all.path, c, all.interrupted);
      if (*all.interrupted || !run || !run->reproduced) return false;
    }
    return written.ok();
  };
  Case smallest = shrink(small, hangs, [](const std::string& what) { say("smaller", what); });
  if (*all.interrupted) return 128 + *all.interrupted;
  smallest.known.push_back(
      fmt::format("shrunk while the job hung in the same way {0} times of {0}", kTimesToStay));
  Result<Written> written = write_scenario(smallest, all.digest, all.how);
  if (!written) return fail_to_reproduce(written.error());
  if (const Status done = expect_kind(*written, expected_kind, all.path); !done)
    return fail_to_reproduce(done.error());
  say("wrote", fmt::format("{}: {} ranks", all.path, written->replay.healthy.size()));
  return kExitPass;
}

int run_with_defences(const ReproduceRuns& all, const Written& written, int64_t limit_ms) {
  for (const Defence& defence : defences()) {
    const Result<Defended> run = defend(written, all.path, defence, all.interrupted);
    if (*all.interrupted) return 128 + *all.interrupted;
    if (!run) return fail_to_reproduce(run.error());
    say("defence", fmt::format("{}: {}", defence.name, noticed_text(*run, limit_ms)));
  }
  return kExitPass;
}

}  // namespace rankfault
