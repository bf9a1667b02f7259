#include "tests/judge/facts.h"

#include <gtest/gtest.h>

#include "harness/scenario/scenario_fields.h"
#include "harness/scenario/validate.h"
#include "harness/scenario/value.h"
#include "harness/scenario/yaml_tree.h"
#include "tests/support/journal_lines.h"

namespace rankfault::test {

Facts::Facts(int ranks) {
  facts_.plan.scenario.name = "t";
  facts_.plan.scenario.workload.ranks = ranks;
  facts_.plan.scenario.workload.limits.wall = 60s;
  facts_.begin = kBegin;
  facts_.end = ms(10'000);
  facts_.timeline.world_size = ranks;
  for (int rank = 0; rank < ranks; ++rank) process(rank);
  line("run_begin");
  line("attempt_begin", {{"attempt", 0}});
}

Facts& Facts::expect(const std::string& yaml) {
  const Result<Value> tree = read_yaml("- " + yaml, "t.yaml");
  EXPECT_TRUE(tree.ok()) << yaml;
  std::vector<ExpectationSpec> specs;
  Problems problems;
  read_expectations(*tree, specs, problems);
  EXPECT_TRUE(problems.empty()) << yaml;
  for (ExpectationSpec& spec : specs) facts_.plan.scenario.expect.push_back(std::move(spec));
  name_lone_parameters(facts_.plan.scenario);
  return *this;
}

Facts& Facts::fault(const std::string& id, std::vector<int> victims) {
  FaultSpec spec;
  spec.id = id;
  spec.kind = "not_linked";
  spec.ranks.ranks = std::move(victims);
  facts_.plan.scenario.faults.push_back(spec);
  return *this;
}

Facts& Facts::struck(const std::string& id, double at, int64_t step, uint64_t seq) {
  facts_.fault_at[id] = ms(at);
  GateEvent gate;
  gate.fault = id;
  for (const FaultSpec& spec : facts_.plan.scenario.faults)
    if (spec.id == id) gate.rank = spec.ranks.ranks.front();
  gate.done = ms(at);
  gate.effect = "done";
  gate.step = step;
  gate.seq = seq;
  facts_.gates.push_back(gate);
  return *this;
}

ProcessView& Facts::process(int rank, int attempt) {
  for (ProcessView& known : facts_.timeline.processes)
    if (known.rank == rank && known.attempt == attempt) return known;
  ProcessView view;
  view.id.pid = 100 + rank + 1000 * attempt;
  view.stage = RF_STAGE_MEMBER;
  view.rank = rank;
  view.attempt = attempt;
  CommView comm;
  comm.index = 0;
  comm.timeout = 1s;
  view.comms.push_back(comm);
  facts_.timeline.processes.push_back(view);
  return facts_.timeline.processes.back();
}

rf_record& Facts::record(int rank, int attempt, double at) {
  Event event;
  event.record.time_ns = ns_of(ms(at));
  event.record.library = RF_LIB_GLOO;
  process(rank, attempt).history.push_back(event);
  return process(rank, attempt).history.back().record;
}

Facts& Facts::call(int rank, uint16_t op, double enter, double leave, int32_t result, int attempt) {
  const uint32_t number = ++calls_;
  for (const bool entering : {true, false}) {
    rf_record& r = record(rank, attempt, entering ? enter : leave);
    r.op = op;
    r.call = number;
    r.phase = entering ? RF_PHASE_ENTER : result == 0 ? RF_PHASE_EXIT : RF_PHASE_ERROR;
    r.tag_or_result = entering ? 0 : result;
  }
  return *this;
}

Facts& Facts::inside(int rank, uint16_t op, double since, int attempt) {
  rf_record& r = record(rank, attempt, since);
  r.op = op;
  r.call = ++calls_;
  r.phase = RF_PHASE_ENTER;
  return *this;
}

RankEnd& Facts::ended(int rank, double at, int attempt) {
  RankEnd end;
  end.process = process(rank, attempt).id;
  end.rank = rank;
  end.attempt = attempt;
  end.time = ms(at);
  end.source = EndSource::kWaited;
  facts_.ends.push_back(end);
  line("rank_end", {{"rank", rank}, {"attempt", attempt}}, at);
  return facts_.ends.back();
}

Facts& Facts::exited(int rank, int code, double at, int attempt) {
  ended(rank, at, attempt).status = {ExitStatus::Kind::kCode, code};
  return *this;
}

Facts& Facts::signalled(int rank, int signal, double at, int attempt) {
  ended(rank, at, attempt).status = {ExitStatus::Kind::kSignal, signal};
  return *this;
}

Facts& Facts::died(int rank, double at, int attempt) {
  ended(rank, at, attempt);
  return *this;
}

Facts& Facts::all_exited(int code, double at, int attempt) {
  for (int rank = 0; rank < facts_.plan.scenario.workload.ranks; ++rank) exited(rank, code, at, attempt);
  return *this;
}

Facts& Facts::mark(int rank, const char* what, int64_t number, double at, const char* name, uint64_t value,
                   int attempt) {
  Mark mark;
  mark.what = what;
  mark.rank = rank;
  mark.attempt = attempt;
  mark.time = ms(at);
  mark.number = number;
  mark.name = name;
  mark.value = value;
  facts_.marks.push_back(mark);
  return *this;
}

Facts& Facts::found(const Finding& f) {
  facts_.findings.all.push_back(f);
  return line("finding", {{"finding", {{"kind", f.kind}}}});
}

Facts& Facts::torn_down(const char* reason, double at) {
  facts_.teardown = ms(at);
  facts_.teardown_reason = reason;
  facts_.end = ms(at);
  return line("teardown", {{"reason", reason}}, at);
}

Facts& Facts::line(const std::string& ev, const Json& fields, double at) {
  Json line = {{"n", facts_.journal.size() + 1}, {"t", ms(at)}, {"ev", ev}};
  line.update(fields);
  if (ev == "starved") facts_.starved = true;
  push_line(facts_.journal, std::move(line));
  return *this;
}

Facts& Facts::restarted(int attempt) {
  for (int rank = 0; rank < facts_.plan.scenario.workload.ranks; ++rank) process(rank, attempt);
  facts_.timeline.attempt = attempt;
  return line("attempt_begin", {{"attempt", attempt}});
}

Facts& Facts::reference(RunFacts facts) {
  facts_.reference = std::make_unique<RunFacts>(std::move(facts));
  return *this;
}

ExpectationResult Facts::result() {
  const Judgement judgement = judged();
  EXPECT_FALSE(judgement.expectations.empty());
  return judgement.expectations.empty() ? ExpectationResult{} : judgement.expectations.front();
}

bool Facts::decided() {
  const ExpectationSpec& spec = facts_.plan.scenario.expect.at(0);
  return Catalog<Oracle>::instance().find(spec.oracle)->decided(spec, facts_);
}

Finding finding(const std::string& kind, std::vector<int> ranks, Confidence confidence,
                const std::string& op) {
  Finding f;
  f.kind = kind;
  f.ranks = std::move(ranks);
  f.op = op;
  f.comm = "world";
  f.seq = SeqRange{3, 3};
  f.confidence = confidence;
  f.text = kind + " as the test says";
  return f;
}

}  // namespace rankfault::test
