// result_json: result.json of one run, by docs/reference/result.v1.schema.json. It contains no path of the
// run directory and no time of day, so that a judgement of a copy writes the same bytes.
#include <algorithm>

#include "harness/base/mask.h"
#include "harness/observe/call_history.h"
#include "reports/words.h"

namespace rankfault {
namespace {

Json expectations_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const ExpectationResult& result : judgement.expectations)
    all.push_back({{"id", result.id},
                   {"oracle", result.oracle},
                   {"verdict", to_text(result.verdict)},
                   {"because", result.because},
                   {"journal", result.journal}});
  return all;
}

Json faults_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const FaultResult& fault : judgement.faults)
    all.push_back({{"id", fault.id},
                   {"kind", fault.kind},
                   {"fired", fault.fired},
                   {"verified", fault.verified},
                   {"how", fault.how},
                   {"parked_ms", fault.parked_ms}});
  return all;
}

struct LastEnds {
  Instant good, any;  // with success, and with any result

  void take(const rf_record* record) {
    const auto told = record ? status_by(*record) : std::nullopt;
    if (!told || told == CallStatus::kPending) return;
    any = std::max(any, instant_of(record->time_ns));
    if (told == CallStatus::kReturned) good = std::max(good, instant_of(record->time_ns));
  }
};

class Timings {
 public:
  explicit Timings(const RunFacts& facts) : facts_(facts), last_(last_ends(facts)) {}

  Json json() const {
    return {{"fault_ms", since_begin(fault())},
            {"last_progress_ms", since_begin(last_progress())},
            {"diagnosed_ms", since_begin(diagnosed())},
            {"unblocked_ms", since_begin(unblocked())},
            {"ended_ms", since_begin(ended())}};
  }

 private:
  Json since_begin(Instant at) const {  // null: it did not happen
    if (!is_known(at) || at < facts_.begin) return {};
    return static_cast<double>((at - facts_.begin) / 1us) / 1000.0;
  }
  Instant fault() const {
    Instant first;
    for (const auto& [id, at] : facts_.fault_at)
      if (!is_known(first) || at < first) first = at;
    return first;
  }
  // When the last call ended, or the work that it had left pending.
  static LastEnds last_ends(const RunFacts& facts) {
    LastEnds last;
    for (const ProcessView& process : facts.timeline.processes) {
      const CallHistory history(process);
      for (const RecordedCall& call : history.calls())
        for (const rf_record* record : {call.leave, call.completion}) last.take(record);
    }
    return last;
  }
  Instant last_progress() const { return last_.good; }
  Instant unblocked() const { return is_known(fault()) ? last_.any : Instant{}; }
  Instant diagnosed() const {
    return first_line<events::Finding>(
               facts_.journal,
               [](const events::Finding& line) { return names_trouble(line.finding.value("kind", "none")); })
        .t;
  }
  Instant ended() const {
    Instant last;
    for (const RankEnd& end : facts_.ends) last = std::max(last, end.time);
    return last;
  }

  const RunFacts& facts_;
  const LastEnds last_;
};

Json cleanup_json(const RunFacts& facts) {
  const auto cleanup = lines_of<events::Cleanup>(facts.journal);
  if (cleanup.empty()) return {{"failed", nullptr}, {"left", nullptr}};
  return keys_to_json(*cleanup.front().event);
}

Json variants_json(const ComparedRuns& compared) {
  Json all = Json::array();
  for (const VariantRow& row : compared.rows)
    all.push_back({{"id", row.id},
                   {"run", row.n},
                   {"ranks", row.ranks},
                   {"verdict", to_text(row.verdict)},
                   {"seconds", row.seconds},
                   {"summary", row.summary}});
  return all;
}

Json first_cause(const Findings& findings) {
  for (size_t i = 0; i < findings.all.size(); ++i)
    if (names_trouble(findings.all[i].kind) && findings.all[i].caused_by < 0) return Json(i);
  return {};
}

Json list_json(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& f : findings) all.push_back(to_json(f));
  return all;
}

Json whole_result(const RunReport& report) {
  Json out = Json::object();
  if (const std::string notice = notice_line(report); !notice.empty()) out["notice"] = notice;
  out["schema"] = "rankfault.result.v1";
  out["scenario"] = report.scenario;
  out["file"] = report.file;
  if (!report.cuda_double.empty()) out["cuda"] = {{"double", true}, {"nccl", report.cuda_double}};
  if (!report.skipped.empty()) {
    out["verdict"] = "skipped";
    out["skipped"] = report.skipped;
    return out;
  }
  const Judgement& judgement = report.judgement;
  out["verdict"] = to_text(judgement.verdict);
  out["outcome"] = judgement.as_it_must_be ? "as_it_must_be" : "not_as_it_must_be";
  out["summary"] = judgement.summary;
  out["expectations"] = expectations_json(judgement);
  out["faults"] = faults_json(judgement);
  if (report.compared) out["variants"] = variants_json(*report.compared);
  if (!report.facts) return out;
  const RunFacts& facts = *report.facts;
  out["findings"] = list_json(facts.findings.all);
  out["first_cause"] = first_cause(facts.findings);
  if (!facts.findings.unsafe.empty()) out["unsafe"] = list_json(facts.findings.unsafe);
  if (!facts.findings.remarks.empty()) out["remarks"] = list_json(facts.findings.remarks);
  out["timings"] = Timings(facts).json();
  out["cleanup"] = cleanup_json(facts);
  out["seed"] = facts.plan.seed;
  out["digest"] = facts.plan.scenario_digest;
  out["tooth"] = facts.plan.tooth;
  out["faults_on"] = facts.plan.faults_on;
  out["bug_on"] = facts.plan.bug_on;
  return out;
}

}  // namespace

Json result_json(const RunReport& report) { return masked(whole_result(report)); }

}  // namespace rankfault
