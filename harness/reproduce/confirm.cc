#include "harness/reproduce/confirm.h"

#include "harness/reproduce/from_timeline.h"
#include "harness/reproduce/recorded.h"
#include "harness/reproduce/same_state.h"
#include "harness/run_scenario.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {
namespace {

constexpr size_t kAllCalls = SIZE_MAX;

// Whether a run has shown what it has to show: the wanted state, or another finding that stays.
class Settled {
 public:
  explicit Settled(const HangState& wanted) : wanted_(wanted) {}

  bool is_enough(const Findings& found) {
    const Instant now = HostClock::now();
    if (found.all.empty() || !names_trouble(found.all[0])) return false;
    if (difference(wanted_, state_of(found.all)).empty()) {
      if (!is_known(same_at_)) same_at_ = now;
      return true;
    }
    const std::string other = found.all[0].kind + found.all[0].op;
    if (other != other_) other_ = other, other_since_ = now;
    return now - other_since_ > kStays;
  }
  Instant same_at() const { return same_at_; }

 private:
  static constexpr Duration kStays = 6s;  // longer than hung_after: a slow rank may become a stuck one

  const HangState& wanted_;
  std::string other_;
  Instant other_since_, same_at_;
};

}  // namespace

Result<Confirmation> confirm(const std::string& scenario, const std::string& file, const Case& wanted,
                             const std::atomic<int>* interrupted) {
  const Result<Scenario> parsed = parse_scenario(scenario, file);
  if (!parsed) return parsed.error();
  const Result<Plan> plan = make_plan(*parsed, {});
  if (!plan) return plan.error();
  RunOptions with;
  with.interrupted = interrupted;
  Settled settled(wanted.state);
  with.enough = [&](const Findings& found) { return settled.is_enough(found); };
  const Result<FinishedRun> run = run_scenario(*plan, with);
  if (!run) return run.error();
  Confirmation result;
  result.run_dir = run->facts->run_dir;
  if (run->report.judgement.not_started)
    return usage_error("the job did not start: see " + result.run_dir + "/logs");
  const Result<RecordedJob> recorded = recorded_run(result.run_dir);
  if (!recorded) return recorded.error();
  const Case got = case_from_timeline(recorded->timeline, recorded->findings, kAllCalls);
  result.got = got.state;
  result.why_not = difference(wanted, got);
  if (!result.why_not.empty())
    result.why_not = difference(wanted, case_from_timeline(recorded->last, recorded->findings, kAllCalls));
  result.reproduced = result.why_not.empty();
  if (const Instant at = settled.same_at(); is_known(at))
    result.to_finding_s = static_cast<double>((at - run->facts->begin).count()) / 1e9;
  return result;
}

}  // namespace rankfault
