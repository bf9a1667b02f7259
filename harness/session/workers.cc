#include "harness/session/workers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "harness/base/unique_fd.h"
#include "harness/session/session.h"

namespace rankfault {
namespace {

struct Worker {
  size_t index = 0;
  UniqueFd from;  // the pipe of its answer
};

MutationRow tooth_from_json(const Json& json) {
  MutationRow row;
  row.scenario = json.value("scenario", "");
  row.tooth = json.value("tooth", "");
  row.must_fail = json.value("must_fail", "");
  row.on_quiet = json.value("on_quiet", "");
  row.on_fault = json.value("on_fault", "");
  row.off_quiet = json.value("off_quiet", "");
  row.off_fault = json.value("off_fault", "");
  row.bites = json.value("bites", false);
  row.why = json.value("why", "");
  row.cuda_double = json.value("cuda_double", "");
  row.also_failed = json.value("also_failed", std::vector<std::string>{});
  row.seconds = json.value("seconds", 0.0);
  return row;
}

Json answer_of(const ScenarioOutcome& unit) {
  const std::string compared = unit.report.compared ? unit.report.compared->dir : "";
  Json out = {{"run_dir", unit.facts ? unit.facts->run_dir : compared},
              {"skipped", unit.report.skipped},
              {"cleanup", unit.report.cleanup},
              {"summary", unit.report.judgement.summary},
              {"extra_run_dirs", unit.extra_run_dirs},
              {"teeth", Json::array()}};
  for (const MutationRow& row : unit.teeth) out["teeth"].push_back(to_json(row));
  if (unit.report.seconds) out["seconds"] = *unit.report.seconds;
  if (unit.error)
    out["error"] = {{"kind", static_cast<int>(unit.error->kind)},
                    {"message", unit.error->to_string()},
                    {"file", unit.error->where.file},
                    {"line", unit.error->where.line}};
  return out;
}

// The message has its place already: a place of its own would be printed twice.
void take_error(const Json& error, ScenarioOutcome& unit) {
  unit.error = Error{static_cast<ErrorKind>(error.value("kind", 0)), error.value("message", ""), {}};
  unit.report.where = {error.value("file", ""), error.value("line", 0), 0};
}

// Fills the report of a unit without a run directory: its reference failed, it was skipped, or it ran
// mutation checks.
void fill_report(const Json& answer, ScenarioOutcome& unit) {
  unit.report.skipped = answer.value("skipped", "");
  unit.report.cleanup = answer.value("cleanup", "");
  unit.report.judgement.summary = answer.value("summary", "");
}

ScenarioOutcome judged_unit(const Scenario& scenario, const Json& answer) {
  ScenarioOutcome unit;
  unit.report.scenario = scenario.name;
  unit.report.file = scenario.file;
  if (answer.is_discarded()) {
    unit.error = Error{ErrorKind::kInternal, scenario.name + ": its worker ended without an answer", {}};
    return unit;
  }
  unit.extra_run_dirs = answer.value("extra_run_dirs", std::vector<std::string>{});
  for (const Json& row : answer.value("teeth", Json::array())) unit.teeth.push_back(tooth_from_json(row));
  if (const auto error = answer.find("error"); error != answer.end()) take_error(*error, unit);
  const std::string run_dir = answer.value("run_dir", "");
  if (run_dir.empty()) {
    fill_report(answer, unit);
    return unit;
  }
  Result<FinishedRun> run = judge_run(run_dir);
  if (!run) {
    unit.error = run.error();
    return unit;
  }
  unit.report = std::move(run->report);
  unit.facts = std::move(run->facts);
  return unit;
}

ScenarioOutcome unit_of(const Scenario& scenario, const std::string& text) {
  const Json answer = Json::parse(text, nullptr, false);
  ScenarioOutcome unit = judged_unit(scenario, answer);
  if (answer.is_object() && answer.contains("seconds"))
    unit.report.seconds = answer["seconds"].get<double>();  // how long its worker took
  return unit;
}

[[noreturn]] void work(const Scenario& scenario, const RunFunction& run, const SessionOptions& options,
                       int to) {
  const std::string text = answer_of(ScenarioRunner(run, options).run(scenario))
                               .dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(to, text.data() + written, text.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  ::_exit(0);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
  }
}

class Pool {
 public:
  Pool(const std::vector<Scenario>& scenarios, const RunFunction& run, const SessionOptions& options)
      : scenarios_(scenarios), run_(run), options_(options) {}

  bool start(size_t index) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) work(scenarios_[index], run_, options_, ends[1]);
    ::close(ends[1]);
    UniqueFd from(ends[0]);
    if (pid < 0) return false;
    workers_[pid] = {index, std::move(from)};
    return true;
  }

  // Waits for the first worker that answers or ends.
  void finish_one(const std::function<void(size_t, ScenarioOutcome)>& done) {
    std::vector<pollfd> polls;
    for (const auto& [pid, worker] : workers_) polls.push_back({worker.from.get(), POLLIN, 0});
    if (::poll(polls.data(), polls.size(), -1) <= 0) return;  // a signal came: the caller calls again
    for (auto& [pid, worker] : workers_) {
      const auto said = [&](const pollfd& p) { return p.fd == worker.from.get() && p.revents != 0; };
      if (std::none_of(polls.begin(), polls.end(), said)) continue;
      const size_t index = worker.index;
      const std::string text = read_all(worker.from.get());
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
      workers_.erase(pid);
      return done(index, unit_of(scenarios_[index], text));
    }
  }
  size_t size() const { return workers_.size(); }

 private:
  const std::vector<Scenario>& scenarios_;
  const RunFunction& run_;
  const SessionOptions& options_;
  std::map<pid_t, Worker> workers_;
};

}  // namespace

Json to_json(const MutationRow& row) {
  return {{"scenario", row.scenario},
          {"tooth", row.tooth},
          {"must_fail", row.must_fail},
          {"on_quiet", row.on_quiet},
          {"on_fault", row.on_fault},
          {"off_quiet", row.off_quiet},
          {"off_fault", row.off_fault},
          {"bites", row.bites},
          {"why", row.why},
          {"also_failed", row.also_failed},
          {"cuda_double", row.cuda_double},
          {"seconds", row.seconds}};
}

void run_in_workers(const std::vector<Scenario>& scenarios, const std::vector<size_t>& which,
                    const RunFunction& run, const SessionOptions& options,
                    const std::function<void(size_t, ScenarioOutcome)>& done) {
  Pool pool(scenarios, run, options);
  for (const size_t index : which) {
    if (options.interrupted && *options.interrupted) break;
    while (pool.size() >= static_cast<size_t>(options.jobs)) pool.finish_one(done);
    if (!pool.start(index)) break;
  }
  while (pool.size() > 0) pool.finish_one(done);
}

}  // namespace rankfault
