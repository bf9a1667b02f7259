#include "tests/reports/html/page_runs.h"

#include "tests/judge/census_line.h"
#include "tests/support/journal_lines.h"

namespace rankfault::test {
namespace {

constexpr uint64_t kSite = 0x1000;

class Calls {
 public:
  explicit Calls(ProcessView& view) : view_(view) {}

  // Times are microseconds after the begin of the run; `to` 0: it never left.
  void call(uint16_t op, uint64_t seq, uint64_t from, uint64_t to, int result = 0) {
    rf_record r{};
    r.op = op;
    r.call = ++number_;
    r.seq = seq;
    r.where = kSite;
    r.count = 1024;
    r.dtype = RF_DTYPE_FLOAT32;
    r.reduce_op = RF_REDUCE_SUM;
    r.peer = RF_PEER_NONE;
    r.library = RF_LIB_GLOO;
    add(r, RF_PHASE_ENTER, from);
    r.tag_or_result = result;
    if (to != 0) add(r, result == 0 ? RF_PHASE_EXIT : RF_PHASE_ERROR, to);
  }

 private:
  void add(rf_record r, uint8_t phase, uint64_t us) {
    r.phase = phase;
    r.time_ns = ns_of(kBegin) + us * 1000;
    Event event;
    event.index = view_.history.size();
    event.record = r;
    view_.history.push_back(event);
  }

  ProcessView& view_;
  uint32_t number_ = 0;
};

}  // namespace

MadeRun made(std::unique_ptr<Facts> facts, const std::string& scenario) {
  MadeRun run;
  run.report.facts = &facts->facts();
  run.report.judgement = facts->judged();
  run.report.scenario = scenario;
  run.report.file = "scenarios/" + scenario + ".yaml";
  run.facts = std::move(facts);
  return run;
}

void join_world(Facts& facts) {
  for (ProcessView& process : facts.facts().timeline.processes) {
    CommView& world = process.comms.front();
    world.id = 7;
    world.size = static_cast<uint32_t>(facts.facts().timeline.world_size);
    world.flags = RF_COMM_WORLD;
    world.rank = process.rank;
    world.library = RF_LIB_GLOO;
    world.members.clear();
    for (int rank = 0; rank < facts.facts().timeline.world_size; ++rank) world.members.push_back(rank);
    process.opened = kBegin + 1ms;
    process.source_lines[kSite] = "step() at train.py:12";
  }
}

MadeRun killed_run() {
  auto facts = std::make_unique<Facts>();
  facts->fault("kill", {2}).struck("kill", 100, -1, 3);
  facts->expect("blamed: {kind: dead_rank, ranks: [2], op: all_reduce}");
  facts->expect("unblocked: {ranks: all, within: 1s, after: kill}").expect("left_nothing");
  join_world(*facts);
  for (int rank = 0; rank < 4; ++rank) {
    Calls calls(facts->process(rank));
    for (uint64_t seq = 1; seq < 3; ++seq)
      calls.call(RF_OP_ALL_REDUCE, seq, 10'000 * seq, 10'000 * seq + 900);
    if (rank != 2) calls.call(RF_OP_ALL_REDUCE, 3, 50'000, rank == 0 ? 1'300'000 : 110'000, -1);
  }
  facts->mark(0, "step_begin", 1, 5).mark(0, "step_begin", 2, 25).mark(0, "error_mark", 0, 120, "peer_lost");
  facts->signalled(2, 9, 100).exited(0, 3, 1'400).exited(1, 3, 120).exited(3, 3, 121);
  facts->line("census", kCensus, 1'500).line("cleanup", {{"failed", Json::array()}}, 1'600);
  Finding dead = finding("dead_rank", {2});
  dead.text = "rank 2 is dead and never entered all_reduce 3 on world, which ranks 0 1 3 wait in";
  dead.sides = {{{0, 1, 3}, "all_reduce", "all_reduce x 1024 on world, call 3", "step.cc:12"}};
  dead.at = ms(100);
  facts->found(dead);
  set_key(facts->facts().journal.back(), "t", ns_of(ms(105)));
  set_key(facts->facts().journal.back(), "finding", to_json(dead));
  facts->facts().plan.seed = 7;
  facts->facts().ended = true;
  return made(std::move(facts), "crash/kill");
}

MadeRun long_run(int ranks, int calls) {
  auto facts = std::make_unique<Facts>(ranks);
  join_world(*facts);
  const uint64_t last = static_cast<uint64_t>(calls);
  for (int rank = 0; rank < ranks; ++rank) {
    ProcessView& view = facts->process(rank);
    view.history.reserve(2 * last);
    Calls of_rank(view);
    const bool leaves_out = rank == ranks - 1;
    for (uint64_t n = 1; n < last; ++n) {
      const uint64_t begin = n * 100 + static_cast<uint64_t>(rank) * 7 % 40;
      of_rank.call(n % 3 == 0 ? RF_OP_ALL_GATHER : RF_OP_ALL_REDUCE, n, begin, n * 100 + 60);
      if (n % 10 == 1)
        facts->mark(rank, "step_begin", static_cast<int64_t>(n / 10), static_cast<double>(begin) / 1000);
    }
    if (!leaves_out) of_rank.call(RF_OP_ALL_REDUCE, last, last * 100, last * 200, -1);
    facts->exited(rank, leaves_out ? 0 : 3, static_cast<double>(last) / 4);
  }
  facts->facts().end = ms(static_cast<double>(last) / 4 + 50);
  Finding missing = finding("missing_call", {ranks - 1}, Confidence::kInferred);
  missing.seq = SeqRange{last, last};
  missing.at = ms(static_cast<double>(last) / 10);
  missing.text = "the last rank made one call too few";
  facts->found(missing);
  facts->facts().ended = true;
  return made(std::move(facts), "large/long-run");
}

MadeRun hostile_run(const std::string& name) {
  MadeRun run = killed_run();
  RunFacts& facts = run.facts->facts();
  for (ProcessView& process : facts.timeline.processes) {
    process.comms.front().name = name;
    process.comms.front().flags = 0;
    for (auto& [where, line] : process.source_lines) line = name;
  }
  for (Mark& mark : facts.marks) mark.name = name;
  Finding& f = facts.findings.all.front();
  f.text = f.comm = f.call_site = name;
  f.sides.front().what = f.sides.front().call_site = name;
  f.evidence = {"rank 2 wrote: " + name};
  f.assumes = {{"full_view", false, name}};
  RankEvidence evidence;
  evidence.rank = 1;
  evidence.command = name;
  evidence.threads = {{7, name, 'S', name, name, {{name, name, name}}, {{name, name, false}}}};
  facts.evidence = {evidence};
  facts.left_behind = {name};
  facts.run_dir = name;
  run.report.scenario = run.report.file = run.report.cleanup = name;
  run.report.lost = {name};
  for (ExpectationResult& result : run.report.judgement.expectations) result.because = name;
  for (FaultResult& fault : run.report.judgement.faults) fault.how = name;
  return run;
}

}  // namespace rankfault::test
