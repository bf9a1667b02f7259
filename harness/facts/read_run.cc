// read_run: reads RunFacts from a run directory. It reads files only, so a copy of the directory gives the
// same facts.
#include <algorithm>
#include <filesystem>
#include <set>

#include "faults/fault.h"
#include "harness/facts/journal_facts.h"
#include "harness/facts/marks.h"
#include "harness/facts/run_facts.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {
namespace {

void read_evidence(RunFacts& facts) {
  std::set<std::string> read;  // a later attempt overwrites the file of an earlier one
  for (const auto& line : lines_of<events::Evidence>(facts.journal)) {
    const std::string file = line->file.value_or("");
    if (file.empty() || file.rfind("evidence/", 0) != 0 || file.find("..") != std::string::npos ||
        !read.insert(file).second)
      continue;
    const Result<Json> json = read_json(facts.run_dir + "/" + file);
    if (!json) continue;  // a copy may lack it: no verdict depends on it
    if (Result<RankEvidence> evidence = evidence_from_json(*json))
      facts.evidence.push_back(std::move(*evidence));
  }
}

// Not the empty ones: a rank that redirects its errors leaves its log empty.
void list_logs(RunFacts& facts) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(facts.run_dir + "/logs", none))
    if (entry.is_regular_file(none) && entry.file_size(none) > 0)
      facts.logs.push_back(entry.path().filename().string());
  std::sort(facts.logs.begin(), facts.logs.end());
}

Result<RunFacts> read_one(const std::string& run_dir) {
  RunFacts facts;
  facts.run_dir = run_dir;
  if (!std::filesystem::exists(run_dir + "/plan.json"))
    return usage_error(run_dir + " is not a run directory of rankfault: it has no plan.json");
  Result<Json> plan_json = read_json(run_dir + "/plan.json");
  if (!plan_json) return plan_json.error();
  Result<Plan> plan = plan_from_json(*plan_json);
  if (!plan) return plan.error();
  facts.plan = std::move(*plan);
  Result<JournalLines> journal = read_journal(run_dir + "/journal.ndjson");
  if (!journal) return journal.error();
  facts.journal = std::move(*journal);
  // Without an expectation or a fault, no check needs the histories in memory.
  const bool judged = !facts.plan.scenario.expect.empty() || !facts.plan.scenario.faults.empty();
  Result<Timeline> timeline = final_timeline(run_dir, judged ? Histories::kInMemory : Histories::kInFiles);
  if (!timeline) return timeline.error();
  facts.timeline = std::move(*timeline);
  fold_journal(facts);
  read_evidence(facts);
  list_logs(facts);
  for (Mark& mark : marks_of(facts.timeline)) facts.marks.push_back(std::move(mark));
  return facts;
}

// A copied run has its reference in the folder `reference`. Otherwise the journal names the reference.
std::string reference_dir(const RunFacts& facts) {
  const std::string beside = facts.run_dir + "/reference";
  std::error_code none;
  return std::filesystem::exists(beside, none) ? beside : reference_named(facts.journal);
}

void note_effects(RunFacts& facts) {
  if (!facts.plan.faults_on) return;
  for (const FaultSpec& fault : facts.plan.scenario.faults) {
    const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
    if (!kind || !kind->verify) continue;
    const EffectReport report = kind->verify(fault, facts);
    if (report.effect == Effect::kVerified) facts.fault_at[fault.id] = report.at;
  }
}

}  // namespace

Result<RunFacts> read_run(const std::string& run_dir) {
  Result<RunFacts> facts = read_one(run_dir);
  if (!facts) return facts;
  if (const std::string reference = reference_dir(*facts); !reference.empty()) {
    Result<RunFacts> read = read_one(reference);
    if (!read) return read.error();
    facts->reference = std::make_unique<RunFacts>(std::move(*read));
  }
  note_effects(*facts);
  return facts;
}

}  // namespace rankfault
