// compare: compares a value that the ranks report, or a measure of the run, over the variants of a scenario.
// The text gives times with their spread.
//
// Each variant is compared with the first. A value that no rank reported, and a count that is 0 in every
// variant, is unknown, never the same.
#include "harness/judge/oracles/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/judge/measures.h"
#include "harness/judge/values.h"

namespace rankfault {
namespace {

enum class Wanted { kSame, kDifferent, kShown };

Wanted wanted_of(const ExpectationSpec& spec) {
  const std::string word = read_text(spec.params, "within", "exact");
  if (word == "differs") return Wanted::kDifferent;
  return word == "shown" ? Wanted::kShown : Wanted::kSame;
}

struct Group {  // all runs of one variant
  std::string id;
  std::vector<const RunFacts*> runs;
};

// In the order of `between`; a variant that was not run has no runs.
std::vector<Group> groups_of(const ExpectationSpec& spec, const std::vector<VariantRun>& runs) {
  std::vector<std::string> ids = read_texts(spec.params, "between");
  if (ids.empty() && !runs.empty()) ids = variant_ids(runs.front().facts->plan.scenario);
  std::vector<Group> out;
  for (const std::string& id : ids) {
    out.push_back({id, {}});
    for (const VariantRun& run : runs)
      if (run.id == id) out.back().runs.push_back(run.facts);
  }
  return out;
}

std::string names_of(const std::vector<Group>& groups, size_t from) {
  std::vector<std::string> names;
  for (size_t i = from; i < groups.size(); ++i) names.push_back(groups[i].id);
  return fmt::format("{}", fmt::join(names, ", "));
}

// ---- values that the ranks report --------------------------------------------------------------

struct Difference {
  bool differs = false;
  ValueVerdict verdict;  // not pass: a rank did not report the value
};

// Compares each rank with the same rank of the base. If that rank reported nothing, any rank of the base that
// did takes its place.
Difference difference(const RunFacts& base, const Group& of, const RunFacts& other, const std::string& name,
                      int64_t step, const Closeness& close, const std::string& base_id) {
  Difference out;
  for (int rank = 0; rank < other.plan.scenario.workload.ranks; ++rank) {
    const Mark* theirs = newest_value(base, name, step, rank);
    if (!theirs) theirs = newest_value(base, name, step, -1);
    const Mark* ours = newest_value(other, name, step, rank);
    if (!ours) {
      ValueVerdict none = no_value_said(other, name, step, rank);
      none.text = fmt::format("in {}, {}", of.id, none.text);
      if (none.verdict > out.verdict.verdict) out.verdict = std::move(none);
    } else if (!out.differs && !close.equal(ours->value, theirs->value)) {
      out.differs = true;
      out.verdict.text = fmt::format("{} of rank {} at step {} is {} in {}, but {} in {}", name, rank, step,
                                     close.text(ours->value), of.id, close.text(theirs->value), base_id);
    }
  }
  return out;
}

ExpectationResult judge_value(const ExpectationSpec& spec, const std::string& name,
                              const std::vector<Group>& groups) {
  for (const Group& group : groups)
    for (const RunFacts* run : group.runs)
      if (const std::string why = why_no_values(*run); !why.empty())
        return answer(spec, Verdict::kUnknown, fmt::format("in {}: {}", group.id, why));
  const RunFacts& base = *groups[0].runs[0];
  const Value* at = spec.params.find("at");
  const int64_t step = at ? read_int(*at, "step", -1) : last_step_of(base, name);
  if (!newest_value(base, name, step, -1)) {
    const std::string when = step < 0 ? "" : fmt::format(" at step {}", step);
    return answer(spec, Verdict::kUnknown,
                  fmt::format("in {}, no rank reported {}{}", groups[0].id, name, when));
  }
  const Closeness close = read_closeness(spec.params.find("within"));
  const Wanted wanted = wanted_of(spec);
  std::string first_difference;
  for (const Group& group : groups) {
    bool differs = false;
    for (const RunFacts* run : group.runs) {
      Difference d = difference(base, group, *run, name, step, close, groups[0].id);
      if (d.verdict.verdict != Verdict::kPass) return answer(spec, d.verdict.verdict, d.verdict.text);
      differs = differs || d.differs;
      if (d.differs && first_difference.empty()) first_difference = d.verdict.text;
    }
    if (wanted == Wanted::kDifferent && !differs && &group != &groups[0])
      return answer(
          spec, Verdict::kFail,
          fmt::format("{} at step {} is the same in {} and {}", name, step, groups[0].id, group.id));
  }
  if (!first_difference.empty())
    return answer(spec, wanted == Wanted::kSame ? Verdict::kFail : Verdict::kPass, first_difference);
  return answer(spec, Verdict::kPass,
                fmt::format("{} at step {} is {} in {} and in {}", name, step,
                            close.bits() ? "the same, bit for bit," : "near enough", groups[0].id,
                            names_of(groups, 1)));
}

// ---- measures ----------------------------------------------------------------------------------

struct Sample {
  std::string id;
  std::vector<double> all;

  double least() const { return *std::min_element(all.begin(), all.end()); }
  double most() const { return *std::max_element(all.begin(), all.end()); }
};

std::string number(const std::string& value, double x) {
  if (is_time_measure(value)) return to_text(Duration(static_cast<int64_t>(x * 1e9)));
  return fmt::format("{:g}", x);
}

// "on 1.2ms (1.1ms to 3ms in 120)"
std::string said(const std::string& value, const Sample& sample) {
  std::string out = fmt::format("{} {}", sample.id, number(value, median(sample.all)));
  if (sample.all.size() == 1) return out;
  return out + fmt::format(" ({} to {} in {})", number(value, sample.least()), number(value, sample.most()),
                           sample.all.size());
}

std::string said_beside(const std::string& value, const Sample& base, const Sample& other) {
  const double a = median(base.all), b = median(other.all);
  std::string out = said(value, other);
  if (a > 0 && a != b)
    out += fmt::format(", {:.1f} % {}", 100 * std::abs(b - a) / a, b > a ? "more" : "less");
  return out;
}

bool same(const ExpectationSpec& spec, const Sample& a, const Sample& b) {
  const Closeness close = read_closeness(spec.params.find("within"));
  if (!close.bits()) return close.near(median(a.all), median(b.all));
  return a.least() == b.most() && a.most() == b.least();
}

ExpectationResult judge_measure(const ExpectationSpec& spec, const std::string& value,
                                const std::vector<Group>& groups) {
  const std::string op = read_text(spec.params, "op");
  std::vector<Sample> samples;
  bool starved = false, anything = false;
  for (const Group& group : groups) {
    samples.push_back({group.id, {}});
    for (const RunFacts* run : group.runs) {
      const Measured measured = measure(value, op, *run);
      if (measured.samples.empty())
        return answer(spec, Verdict::kUnknown, fmt::format("in {}, {}", group.id, measured.why));
      samples.back().all.insert(samples.back().all.end(), measured.samples.begin(), measured.samples.end());
      starved = starved || run->starved;
    }
    anything = anything || samples.back().most() > 0;
  }
  const std::string what = op.empty() ? value : value + " of " + op;
  if (!anything) return answer(spec, Verdict::kUnknown, fmt::format("{}: none in any variant", what));
  std::string text = fmt::format("{}: {}", what, said(value, samples[0]));
  Verdict verdict = Verdict::kPass;
  const Wanted wanted = wanted_of(spec);
  for (size_t i = 1; i < samples.size(); ++i) {
    text += "; " + said_beside(value, samples[0], samples[i]);
    if (wanted == Wanted::kShown) continue;
    if (same(spec, samples[0], samples[i]) != (wanted == Wanted::kSame)) verdict = Verdict::kFail;
  }
  if (verdict == Verdict::kFail && is_time_measure(value) && starved)
    return answer(spec, Verdict::kUnknown, text + "; but the host was too busy to judge it");
  return answer(spec, verdict, text);
}

ExpectationResult judge_over(const ExpectationSpec& spec, const std::vector<VariantRun>& runs) {
  const std::vector<Group> groups = groups_of(spec, runs);
  if (groups.size() < 2) return answer(spec, Verdict::kUnknown, "compare needs at least two variants");
  for (const Group& group : groups)
    if (group.runs.empty()) return answer(spec, Verdict::kUnknown, group.id + " was not run");
  const std::string value = read_text(spec.params, "value");
  return is_measure(value) ? judge_measure(spec, value, groups) : judge_value(spec, value, groups);
}

ExpectationResult judge_one_run(const ExpectationSpec& spec, const RunFacts&) {
  return answer(spec, Verdict::kUnknown, "one run is not compared with itself");
}

const Registration<Oracle> kCompare{{
    .name = "compare",
    .summary =
        "A value or a measure is the same in all variants of the scenario, within a bound, or it differs.",
    .example = "compare: {value: weights, between: [direct, chunked], within: exact}",
    .params = {{"value", ParamType::kText, true,
                "the name of a reported value, or job_duration, step_duration, commits (by all ranks) or "
                "calls (of op)"},
               {"between", ParamType::kTextList, false,
                "variants: each of the others is compared with the first; all of them when absent"},
               {"within", ParamType::kAny, false,
                "exact (when absent), {abs: x} or {rel: x} (times: of the medians), differs, or shown: "
                "reported and not judged"},
               {"at", ParamType::kMap, false, "{step: N}; the last step of the first variant when absent"},
               {"op", ParamType::kText, false, "of calls: the operation"}},
    .check = check_compare,
    .judge = judge_one_run,
    .judge_over = judge_over,
}};

}  // namespace
}  // namespace rankfault
