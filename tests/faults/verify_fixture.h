// verify_fixture: a run with one fault. A test writes down its facts, and reads which effect follows.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "fake_oracle.h"
#include "faults/fault.h"
#include "harness/facts/run_facts.h"
#include "harness/scenario/one_line.h"

namespace rankfault {

inline constexpr uint64_t kWorld = 77;

// A run with one fault, with facts from the test.
class Verify : public testing::Test {
 protected:
  void run(const std::string& fault, int ranks = 3) {
    const Result<Scenario> scenario =
        scenario_from_command_line(ranks, "", {fault}, {"finished: {}"}, {"prog"});
    ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
    Result<Plan> plan = make_plan(*scenario, {});
    ASSERT_TRUE(plan.ok()) << plan.error().to_string();
    facts.plan = std::move(*plan);
    for (int rank = 0; rank < ranks; ++rank) add_process(rank, ranks);
    gate.rank = facts.plan.actions[0].rank;
    gate.process = facts.timeline.processes[static_cast<size_t>(gate.rank)].id;
    gate.asked = instant_of(100);
    gate.answered = instant_of(110);
    gate.done = instant_of(120);
    gate.effect = "done";
    gate.answer = "go";
    gate.comm_id = kWorld;
    gate.seq = 3;
    gate.count = 8;
    gate.op = "all_reduce";
  }
  void add_process(int rank, int ranks) {
    ProcessView process;
    process.id.pid = 1000 + rank;
    process.id.start = 5;
    process.rank = rank;
    CommView comm;
    comm.index = 0;
    comm.id = kWorld;
    comm.size = static_cast<uint32_t>(ranks);
    comm.rank = rank;
    process.comms.push_back(comm);
    facts.timeline.processes.push_back(process);
  }
  ProcessView& process(int rank) { return facts.timeline.processes[static_cast<size_t>(rank)]; }
  // A record that follows the entry of its call belongs to that call.
  rf_record& record(int rank, rf_op op, uint64_t seq, rf_phase phase, uint64_t time, int result = 0) {
    std::vector<Event>& history = process(rank).history;
    const rf_record* const last = history.empty() ? nullptr : &history.back().record;
    const bool of_last = phase != RF_PHASE_ENTER && last && last->phase == RF_PHASE_ENTER && last->op == op &&
                         last->seq == seq;
    Event event;
    event.record.call = of_last ? last->call : ++calls_;
    event.record.op = static_cast<uint16_t>(op);
    event.record.seq = seq;
    event.record.phase = phase;
    event.record.time_ns = time;
    event.record.tag_or_result = result;
    event.record.count = 8;
    history.push_back(event);
    return history.back().record;
  }
  // Makes the calls `from` to `to` of the world. Without `done`, the last one stays open.
  void calls(int rank, uint64_t from, uint64_t to, bool done = true, rf_op op = RF_OP_ALL_REDUCE) {
    for (uint64_t seq = from; seq <= to; ++seq) {
      record(rank, op, seq, RF_PHASE_ENTER, seq * 100);
      if (done || seq < to) record(rank, op, seq, RF_PHASE_EXIT, seq * 100 + 50);
    }
  }
  void end(int rank, ExitStatus::Kind kind, int value) {
    RankEnd rank_end;
    rank_end.process = process(rank).id;
    rank_end.rank = rank;
    rank_end.time = instant_of(500);
    rank_end.status = {kind, value};
    facts.ends.push_back(rank_end);
  }
  EffectReport verdict() {
    if (facts.gates.empty()) facts.gates.push_back(gate);
    const FaultSpec& fault = facts.plan.scenario.faults[0];
    return Catalog<FaultKind>::instance().find(fault.kind)->verify(fault, facts);
  }
  Effect effect() { return verdict().effect; }

  RunFacts facts;
  GateEvent gate;

 private:
  uint32_t calls_ = 0;
};

}  // namespace rankfault
