// checks: see checks.h. No shell: the program gets the words of the command unchanged. The guardian starts
// it, like everything that a run starts: when the tool dies, the check ends too.
#include "harness/live/checks.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "harness/base/printable.h"
#include "harness/scenario/params.h"

namespace rankfault {
namespace {

constexpr size_t kKeptBytes = 64 * 1024;  // of its output, in the run directory
constexpr size_t kSaidBytes = 200;        // of its last line, in the journal
constexpr int kPollMs = 20;
constexpr uint32_t kFirstTag = 3'000'000'000;  // far from the tags of the attempts

std::vector<std::string> command_of(const ExpectationSpec& spec, const LaunchContext& context) {
  std::vector<std::string> argv = read_texts(spec.params, "command");
  for (std::string& word : argv) word = expand(word, context, -1);
  return argv;
}

// Reads a command's output from a file: a digest of all of it, its beginning kept, its last line for people.
void read_output(const std::string& path, events::Check& check) {
  std::ifstream file(path, std::ios::binary);
  uint64_t bytes = 0, digest = 0;
  std::string line, last;
  char piece[4096];
  while (file.read(piece, sizeof piece), file.gcount() > 0) {
    const auto n = static_cast<size_t>(file.gcount());
    bytes += n;
    digest = rf_hash_bytes(digest, piece, n);
    for (size_t i = 0; i < n; ++i) {
      if (piece[i] == '\n') {
        if (!line.empty()) last = std::move(line);
        line.clear();
      } else if (line.size() < kSaidBytes) {
        line += piece[i];
      }
    }
  }
  file.close();
  std::error_code none;
  if (bytes > kKeptBytes) std::filesystem::resize_file(path, kKeptBytes, none);
  check.bytes = bytes;
  check.digest = fmt::format("{:016x}", digest);
  check.said = printable(line.empty() ? last : line);
}

// How the command ended, as the line about it says.
struct End {
  std::string kind;
  std::optional<int> value = {};
  std::optional<std::string> why = {};
};

End end_of(const ExitStatus& status) {
  return {status.kind == ExitStatus::Kind::kSignal ? "signal" : "exit", status.value};
}

// How the guardian reports that the command of this tag ended; nullopt until it ended or could not be
// started.
std::optional<End> told_of(uint32_t tag, Guardian& guardian) {
  using Kind = GuardianEvent::Kind;
  while (const auto event = guardian.next()) {
    if (event->kind == Kind::kLost) return End{"not_run", {}, "the guardian ended"};
    if (event->tag != tag) continue;  // an event of the job, which is over
    if (event->kind == Kind::kRefused) return End{"not_started", {}, std::strerror(event->a)};
    if (event->kind == Kind::kEnded) return end_of(ExitStatus::from_wait_status(event->a));
  }
  return std::nullopt;
}

// Waits for the command's end, the limit, or the user. A command that is cut short is ended with everything
// that is left of the job.
End watch(uint32_t tag, Instant deadline, const std::atomic<int>* interrupted, Guardian& guardian) {
  const char* cut_short = nullptr;
  for (;;) {
    pollfd readable{guardian.fd(), POLLIN, 0};
    ::poll(&readable, 1, kPollMs);
    if (const auto told = told_of(tag, guardian)) return cut_short ? End{cut_short} : *told;
    if (cut_short) continue;  // the guardian ends it, or is gone
    if (HostClock::now() >= deadline) cut_short = "timeout";
    if (interrupted && *interrupted != 0) cut_short = "interrupted";
    if (!cut_short) continue;
    if (const Status asked = guardian.kill_all(0, Duration::zero()); !asked)
      return {cut_short, {}, asked.error().message};
  }
}

void run_one(uint32_t tag, const Command& command, Duration limit, const std::atomic<int>* interrupted,
             Guardian& guardian, events::Check& check) {
  const Instant begin = HostClock::now();
  End end{"not_started"};
  if (const Status asked = guardian.spawn(tag, command); !asked) {
    end.why = asked.error().message;
  } else {
    end = watch(tag, begin + limit, interrupted, guardian);
    check.took_ns = HostClock::now() - begin;
  }
  check.kind = end.kind;
  check.value = end.value;
  check.why = end.why;
}

template <typename Do>
void for_each_check(const Scenario& scenario, Do what) {
  for (const ExpectationSpec& spec : scenario.expect)
    if (spec.oracle == "check") what(spec);
}

}  // namespace

Status checks_can_start(const LaunchContext& context) {
  Status all = Done{};
  const auto env = job_environment(context, -1);
  const std::string cwd = expand(context.plan.scenario.workload.cwd, context, -1);
  for_each_check(context.plan.scenario, [&](const ExpectationSpec& spec) {
    if (all) all = check_program(command_of(spec, context).at(0), env, cwd, false, spec.pos);
  });
  return all;
}

void run_checks(const LaunchContext& context, bool job_is_over, const std::atomic<int>* interrupted,
                Guardian& guardian, Journal& journal) {
  uint32_t number = 0;
  for_each_check(context.plan.scenario, [&](const ExpectationSpec& spec) {
    const std::string file = fmt::format("checks/check-{}.log", ++number);
    Command command{command_of(spec, context), job_environment(context, -1),
                    expand(context.plan.scenario.workload.cwd, context, -1), context.run.file(file),
                    context.run.file(file)};
    events::Check check;
    check.id = spec.id;
    for (const std::string& word : command.argv) check.argv.push_back(printable(word));
    if (job_is_over && !(interrupted && *interrupted != 0)) {
      std::error_code none;
      std::filesystem::create_directories(context.run.file("checks"), none);
      const Duration limit = read_duration(spec.params, "within").value_or(kCheckLimit);
      run_one(kFirstTag + number, command, limit, interrupted, guardian, check);
      read_output(context.run.file(file), check);
      check.output = file;
    } else {
      check.kind = "not_run";
      check.why = "rankfault ended the job";
    }
    journal.write(check);
  });
}

}  // namespace rankfault
