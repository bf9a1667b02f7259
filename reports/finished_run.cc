#include "reports/finished_run.h"

#include <algorithm>
#include <ctime>

#include "harness/base/file_text.h"
#include "harness/judge/oracle.h"

namespace rankfault {
namespace {

// Makes the verdict at least unknown: the tool was killed, or the disk was full, and the rest is not known.
void note_missing_end(Judgement& judgement) {
  judgement.verdict = std::max(judgement.verdict, Verdict::kUnknown);
  judgement.summary = "the journal ends before the run did";
  judgement.expectations.push_back({"run_end", "run_end", Verdict::kUnknown, judgement.summary, {}});
  judgement.as_it_must_be = false;
}

std::string what_was_left(const JournalLines& journal) {
  std::string left;
  for (const auto& cleanup : lines_of<events::Cleanup>(journal))
    for (const std::string& failed : cleanup->failed) left += (left.empty() ? "" : "; ") + failed;
  return left;
}

// From state.json, which a copy may lack.
std::string when_it_began(const std::string& run_dir) {
  const Json state = Json::parse(text_of_file(run_dir + "/state.json"), nullptr, false);
  const Json& ns =
      state.is_object() && state.contains("began_realtime_ns") ? state["began_realtime_ns"] : Json();
  if (!ns.is_number_unsigned()) return "";
  const auto seconds = static_cast<std::time_t>(ns.get<uint64_t>() / 1'000'000'000);
  std::tm utc{};
  char text[32];
  if (!::gmtime_r(&seconds, &utc)) return "";
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc));
}

Result<FinishedRun> judged(const std::string& run_dir) {
  Result<RunFacts> facts = read_run(run_dir);
  if (!facts) return facts.error();
  FinishedRun out;
  out.facts = std::make_unique<RunFacts>(std::move(*facts));
  out.report.facts = out.facts.get();
  out.report.judgement = judge(*out.facts);
  if (!out.facts->ended) note_missing_end(out.report.judgement);
  out.report.scenario = out.facts->plan.scenario.name;
  out.report.file = out.facts->plan.scenario.file;
  out.report.cuda_double = out.facts->cuda_double;
  out.report.cleanup = what_was_left(out.facts->journal);
  out.report.began = when_it_began(run_dir);
  return out;
}

}  // namespace

Result<FinishedRun> judge_finished(const std::string& run_dir) {
  try {
    return judged(run_dir);
  } catch (const Json::exception& e) {
    return unjudged(run_dir + ": a file of this run is damaged, or was changed: " + e.what());
  }
}

}  // namespace rankfault
