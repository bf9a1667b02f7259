#include "reports/html/run_data.h"

#include <filesystem>

#include "reports/back_end.h"
#include "reports/html/clock.h"
#include "reports/html/details.h"
#include "reports/html/lanes.h"
#include "reports/html/story.h"
#include "reports/words.h"

namespace rankfault::html {
namespace {

CommNames names_in(const RunFacts& facts) {
  CommNames names;
  for (const Finding& f : facts.findings.all)
    if (f.comm_id != 0 && !f.comm.empty()) names.told.emplace(f.comm_id, f.comm);
  return names;
}

Json head_of(const RunReport& report) {
  Json out = {{"title", clean(scenario_title(report))},
              {"scenario", clean(report.scenario)},
              {"outcome", outcome_line(report)},
              {"good", is_good(report)},
              {"skipped", clean(report.skipped)},
              {"verdict", report.skipped.empty() ? to_text(report.judgement.verdict) : "skipped"},
              {"summary", clean(report.judgement.summary)},
              {"story", clean(page_story(report))},
              {"ended", clean(ends_text(report))},
              {"notice", clean(notice_line(report))},
              {"replay", clean(replay_line(report))}};
  if (report.facts) out["dir"] = clean(report.facts->run_dir);
  return out;
}

Json variants_of(const ComparedRuns& compared) {
  Json out = Json::array();
  for (const VariantRow& row : compared.rows)
    out.push_back({{"id", clean(row.id)},
                   {"run", row.n},
                   {"ranks", row.ranks},
                   {"verdict", to_text(row.verdict)},
                   {"seconds", row.seconds},
                   {"summary", clean(row.summary)}});
  return out;
}

void add_run(const RunReport& report, uint64_t most_calls, Json& out) {
  const RunFacts& facts = *report.facts;
  const CommNames names = names_in(facts);
  Texts texts;
  Shapes shapes(texts, names, facts.timeline.world_size);
  Lanes lanes = lanes_of(facts, shapes, texts, most_calls);
  out["world_size"] = facts.timeline.world_size;
  out["end"] = Clock(facts).json(facts.end);
  out["moments"] = moments_of(report, lanes.last_progress);
  out["findings"] = findings_json(facts, names);
  out["faults"] = faults_json(report);
  out["parks"] = parks_json(facts);
  out["stacks"] = stacks_json(facts);
  out["log"] = log_json(report);
  out["notes"] = notes_json(report);
  out["lanes"] = std::move(lanes.lanes);
  out["shapes"] = shapes.take();
  out["texts"] = texts.take();
  out["calls"] = lanes.calls;
  out["left_out"] = lanes.left_out;
  out["marks_left_out"] = lanes.marks_left_out;
  out["lost"] = lanes.lost;
}

// "20261127-213311" of "skip-allreduce-20261127-213311.1"; "": its folder has another name.
std::string when_of(const std::string& run_dir) {
  const std::string name = std::filesystem::path(run_dir).filename().string();
  for (size_t at = 0; (at = name.find('-', at)) != std::string::npos; ++at) {
    const std::string part = name.substr(at + 1, 15);
    const auto digits = [&](size_t from, size_t n) {
      return part.find_first_not_of("0123456789", from) >= from + n;
    };
    if (part.size() == 15 && part[8] == '-' && digits(0, 8) && part.find_first_not_of("0123456789", 9) > 14)
      return name.substr(at + 1);
  }
  return "";
}

}  // namespace

Json run_data(const RunReport& report, uint64_t most_calls) {
  Json out = head_of(report);
  out["expectations"] = expectations_json(report);
  if (report.compared) out["variants"] = variants_of(*report.compared);
  if (report.facts) add_run(report, most_calls, out);
  return out;
}

Json index_row(const RunReport& report) {
  Json out = {{"scenario", clean(report.scenario)},
              {"case", clean(case_of(report.scenario))},
              {"outcome", outcome_line(report)},
              {"verdict", report.skipped.empty() ? to_text(report.judgement.verdict) : "skipped"},
              {"good", is_good(report)},
              {"summary", clean(report.skipped.empty() ? report.judgement.summary : report.skipped)}};
  if (report.compared) out["back_end"] = "several";
  if (!report.facts) return out;
  const RunFacts& facts = *report.facts;
  out["back_end"] = back_end(facts);
  out["when"] = clean(when_of(facts.run_dir));
  out["tooth"] = clean(facts.plan.tooth);
  out["faults_on"] = facts.plan.faults_on;
  out["seconds"] = std::chrono::duration<double>(lasted(facts.begin, facts.end)).count();
  return out;
}

}  // namespace rankfault::html
