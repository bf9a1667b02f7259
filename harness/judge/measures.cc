#include "harness/judge/measures.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/judge/oracle_queries.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

double seconds_of(Duration span) { return std::chrono::duration<double>(span).count(); }

// From the first attempt to the end of the last rank.
Measured job_duration(const RunFacts& facts) {
  const auto attempts = lines_of<events::AttemptBegin>(facts.journal);
  const Instant begin = attempts.empty() ? Instant{} : attempts.front().t;
  Instant end;
  for (const RankEnd& rank : facts.ends) end = std::max(end, rank.time);
  if (!is_known(begin) || end <= begin || is_known(facts.teardown))
    return {{}, "the job did not end by itself"};
  return {{seconds_of(end - begin)}, ""};
}

bool all(bool (*whole)(const ProcessView&), const RunFacts& facts) {
  const auto& processes = facts.timeline.processes;
  return !processes.empty() && std::all_of(processes.begin(), processes.end(), whole);
}

// For each rank and step: from its begin to its commit.
Measured step_duration(const RunFacts& facts) {
  Measured out;
  std::map<std::pair<int, int64_t>, Instant> begun;
  for (const Mark& mark : facts.marks) {
    if (mark.what == "step_begin") begun[{mark.rank, mark.number}] = mark.time;
    const auto begin = begun.find({mark.rank, mark.number});
    if (mark.what != "step_commit" || begin == begun.end()) continue;
    out.samples.push_back(seconds_of(mark.time - begin->second));
    begun.erase(begin);
  }
  if (out.samples.empty()) out.why = "no step was marked from begin to commit";
  return out;
}

// The number of committed steps of the rank that committed the fewest.
Measured commits(const RunFacts& facts) {
  std::map<int, std::set<int64_t>> steps;
  bool marked = false;
  for (const Mark& mark : facts.marks) {
    marked = marked || mark.what == "step_begin" || mark.what == "step_commit";
    if (mark.what == "step_commit") steps[mark.rank].insert(mark.number);
  }
  if (!marked) return {{}, "the job marks no steps"};
  if (!all(whole_marks, facts)) return {{}, "the records are not whole"};
  size_t least = SIZE_MAX;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank)
    least = std::min(least, steps[rank].size());
  return {{static_cast<double>(least)}, ""};
}

// The sum over all processes. 0 is a valid count if the records are whole.
Measured calls(const std::string& op, const RunFacts& facts) {
  const std::optional<rf_op> wanted = op_from_word(op);
  if (!wanted) return {{}, "no call has this name"};
  if (!all(whole_record, facts))
    return {{}, "the records are not whole: rankfault keeps only the newest calls of a long run"};
  double count = 0;
  for (const ProcessView& process : facts.timeline.processes) {
    const CallHistory history(process, OpenCalls::kByStates);
    if (is_file_op(*wanted)) {
      for (const RecordedCall& call : history.calls()) count += call.enter && call.op() == *wanted;
    } else {
      for (const RecordedCall* call : communication_calls(history)) count += call->op() == *wanted;
    }
  }
  return {{count}, ""};
}

}  // namespace

const std::vector<std::string>& measure_words() {
  static const std::vector<std::string> words{"job_duration", "step_duration", "commits", "calls"};
  return words;
}

bool is_measure(const std::string& value) {
  const auto& words = measure_words();
  return std::find(words.begin(), words.end(), value) != words.end();
}

bool is_time_measure(const std::string& value) { return value == "job_duration" || value == "step_duration"; }

Measured measure(const std::string& value, const std::string& op, const RunFacts& facts) {
  if (value == "job_duration") return job_duration(facts);
  if (value == "step_duration") return step_duration(facts);
  return value == "commits" ? commits(facts) : calls(op, facts);
}

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

}  // namespace rankfault
