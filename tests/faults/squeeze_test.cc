// squeeze_test: the faults that limit a victim to the amount of a resource that it has: what they refuse, and
// that a limit that no rank reached is not an effect.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/support/journal_lines.h"
#include "verify_fixture.h"

namespace rankfault {
namespace {

using testing::HasSubstr;

class Squeeze : public Verify {
 protected:
  static Result<Plan> plan(const std::string& fault) {
    const Result<Scenario> scenario = scenario_from_command_line(3, "", {fault}, {"finished: {}"}, {"prog"});
    if (!scenario) return scenario.error();
    return make_plan(*scenario, {});
  }
  static std::string refusal(const std::string& fault) {
    const Result<Plan> made = plan(fault);
    return made.ok() ? "accepted" : made.error().to_string();
  }
  void limited(uint64_t in_use) {
    push_line(facts.journal, {{"n", 9},
                              {"ev", "fault_effect"},
                              {"fault", facts.plan.scenario.faults[0].id},
                              {"action", 0},
                              {"what", "limited"},
                              {"in_use", in_use},
                              {"time", 115}});
  }
  // Adds a `fail_call` that fired at a file call of that rank.
  void fail_call_at(int rank, const std::string& op, uint64_t asked,
                    const std::string& path = "/tmp/rf.1/ckpt.bin") {
    Action failing;
    failing.id = static_cast<uint32_t>(facts.plan.actions.size());
    failing.fault = "failing";
    failing.rank = rank;
    failing.verb = RF_VERB_FAIL;
    GateEvent fired;
    fired.action = failing.id;
    fired.rank = rank;
    fired.process = process(rank).id;
    fired.asked = instant_of(asked);
    fired.effect = "done";
    fired.op = op;
    fired.path = path;
    facts.plan.actions.push_back(failing);
    facts.gates.push_back(fired);
  }
  void opens(int rank, uint64_t time, int error) {
    process(rank).name_at[40] = "/tmp/rf.1/ckpt.bin";
    record(rank, RF_OP_FILE_OPEN, 40, RF_PHASE_EXIT, time, error).library = RF_LIB_LIBC;
  }
};

TEST_F(Squeeze, ALimitIsLiftedFromOutsideAndOpeningsAreWatched) {
  const Result<Plan> made = plan("descriptor_squeeze@ranks=[0, 2],op=all_reduce,spare=3,for=2s");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ASSERT_EQ(made->actions.size(), 5u);
  for (const size_t i : {0u, 2u}) {
    EXPECT_EQ(made->actions[i].outside, "limit");
    EXPECT_EQ(made->actions[i].mode, RLIMIT_NOFILE);
    EXPECT_EQ(made->actions[i].size, 3);
    EXPECT_EQ(made->actions[i + 1].outside, "unlimit");
    EXPECT_EQ(made->actions[i + 1].after, static_cast<int>(i));
    EXPECT_EQ(made->actions[i + 1].delay, 2s);
  }
  EXPECT_EQ(made->actions[4].outside, "watch");
  EXPECT_EQ(made->preload, std::vector<std::string>{"libc"});
  EXPECT_EQ(plan("descriptor_squeeze@rank=0,op=all_reduce")->actions.size(), 2u);
}

TEST_F(Squeeze, RefusesNonsense) {
  EXPECT_THAT(refusal("descriptor_squeeze@rank=0"), HasSubstr("the trigger at which it fires"));
  EXPECT_THAT(refusal("descriptor_squeeze@rank=0,op=all_reduce,spare=-1"), HasSubstr("must be 0 to"));
  EXPECT_THAT(refusal("descriptor_squeeze@rank=0,op=all_reduce,spare=1000000000000"),
              HasSubstr("must be 0 to"));
  EXPECT_THAT(refusal("descriptor_squeeze@rank=0,op=all_reduce,for=0s"),
              HasSubstr("\"for\" must be above 0"));
}

TEST_F(Squeeze, DescriptorsMustHaveRunOut) {
  run("descriptor_squeeze@rank=1,op=all_reduce");
  limited(9);
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, 90, EMFILE);
  EXPECT_EQ(effect(), Effect::kVoid) << "before it";
  opens(2, 200, EMFILE);
  EXPECT_EQ(effect(), Effect::kVoid) << "another rank's";
  opens(1, 200, ENOENT);
  opens(1, 210, 0);
  EXPECT_EQ(effect(), Effect::kVoid) << "another error";
  opens(1, 220, EMFILE);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, instant_of(220));
  EXPECT_THAT(report.how, HasSubstr("/tmp/rf.1/ckpt.bin failed with EMFILE while 9 descriptors were open"));
}

TEST_F(Squeeze, AnotherFaultsFailedOpeningIsNoLackOfDescriptors) {
  run("descriptor_squeeze@rank=1,op=all_reduce");
  limited(9);
  facts.gates.push_back(gate);
  fail_call_at(1, "open", 200);
  opens(1, 210, EMFILE);
  EXPECT_EQ(effect(), Effect::kVoid);
  opens(1, 220, EMFILE);
  EXPECT_EQ(verdict().at, instant_of(220)) << "the next one failed by itself";
}

TEST_F(Squeeze, ALimitThatCouldNotBeSetIsNoSqueeze) {
  run("descriptor_squeeze@rank=1,op=all_reduce");
  gate.effect = "refused";
  opens(1, 220, EMFILE);
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Squeeze, MemoryIsLimitedByWhatIsWritable) {
  const Result<Plan> made = plan("memory_squeeze@rank=1,op=all_reduce,spare=4096");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ASSERT_EQ(made->actions.size(), 1u);
  EXPECT_EQ(made->actions[0].mode, RLIMIT_DATA);
  EXPECT_TRUE(made->preload.empty());
  EXPECT_THAT(refusal("memory_squeeze@rank=0,op=all_reduce,spare=-1"), HasSubstr("must be 0 to"));
}

TEST_F(Squeeze, ARankThatLacksMemorySaysSo) {
  run("memory_squeeze@rank=1,op=all_reduce,spare=4096");
  EXPECT_EQ(effect(), Effect::kUnknown) << "rankfault did not see the limit";
  limited(1 << 20);
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.marks.push_back({"mark", 1, 0, instant_of(90), 1, "out_of_memory", 0});
  facts.marks.push_back({"mark", 2, 0, instant_of(200), 1, "out_of_memory", 0});
  facts.marks.push_back({"mark", 1, 0, instant_of(200), 1, "resumed_from", 0});
  EXPECT_EQ(effect(), Effect::kVoid) << "before it, another rank's, another mark";
  facts.marks.push_back({"mark", 1, 0, instant_of(210), 1, "out_of_memory", 0});
  EXPECT_EQ(effect(), Effect::kVerified);
  EXPECT_EQ(verdict().at, instant_of(210));
}

TEST_F(Squeeze, ARankThatLacksMemoryIsTheFirstToEnd) {
  run("memory_squeeze@rank=1,op=all_reduce,spare=4096");
  limited(1 << 20);
  end(1, ExitStatus::Kind::kCode, 0);
  EXPECT_EQ(effect(), Effect::kVoid);
  facts.ends[0].status = {ExitStatus::Kind::kSignal, SIGABRT};
  EXPECT_EQ(effect(), Effect::kVerified);
  end(2, ExitStatus::Kind::kCode, 3);
  facts.ends[1].time = instant_of(600);
  EXPECT_EQ(effect(), Effect::kVerified) << "its peer left after it";
  facts.ends[1].time = instant_of(400);
  EXPECT_EQ(effect(), Effect::kUnknown) << "its peer left before it";
  facts.ends.pop_back();
  facts.teardown = instant_of(450);
  EXPECT_EQ(effect(), Effect::kUnknown) << "ended by us";
}

TEST_F(Squeeze, ABadEndThatAnotherFaultBroughtTellsNothingOfMemory) {
  run("memory_squeeze@rank=1,op=all_reduce,spare=4096");
  limited(1 << 20);
  end(1, ExitStatus::Kind::kSignal, SIGKILL);
  facts.gates.push_back(gate);
  EXPECT_EQ(effect(), Effect::kVerified);
  Action kill;
  kill.id = static_cast<uint32_t>(facts.plan.actions.size());
  kill.fault = "killing";
  kill.outside = "signal";
  facts.plan.actions.push_back(kill);
  GateEvent fired = gate;
  fired.action = kill.id;
  fired.fault = kill.fault;
  facts.gates.push_back(fired);
  EXPECT_EQ(effect(), Effect::kUnknown);
}

TEST_F(Squeeze, WhatComesAfterTheLimitWasLiftedIsNotItsEffect) {
  run("memory_squeeze@rank=1,op=all_reduce,spare=4096,for=1s");
  limited(1 << 20);
  facts.marks.push_back({"mark", 1, 0, instant_of(310), 1, "out_of_memory", 0});
  end(1, ExitStatus::Kind::kSignal, SIGABRT);
  EXPECT_EQ(effect(), Effect::kVerified);
  push_line(facts.journal, {{"n", 10},
                            {"ev", "fault_effect"},
                            {"fault", facts.plan.scenario.faults[0].id},
                            {"action", 1},
                            {"what", "unlimited"},
                            {"time", 300}});
  EXPECT_EQ(effect(), Effect::kVoid);
}

TEST_F(Squeeze, OneRankIsSqueezedForATime) {
  const Result<Plan> made = plan("cpu_squeeze@rank=1,op=all_reduce,load=3,for=2s");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ASSERT_EQ(made->actions.size(), 2u);
  EXPECT_EQ(made->actions[0].outside, "load");
  EXPECT_EQ(made->actions[0].size, 3);
  EXPECT_EQ(made->actions[1].outside, "unload");
  EXPECT_EQ(made->actions[1].delay, 2s);
  EXPECT_EQ(made->actions[1].after, 0);
  EXPECT_THAT(refusal("cpu_squeeze@ranks=[0, 1],op=all_reduce,for=1s"), HasSubstr("must name one rank"));
  EXPECT_THAT(refusal("cpu_squeeze@rank=1,op=all_reduce"), HasSubstr("\"for\""));
  EXPECT_THAT(refusal("cpu_squeeze@rank=1,op=all_reduce,for=1s,times=2"), HasSubstr("fires once"));
  EXPECT_THAT(refusal("cpu_squeeze@rank=1,op=all_reduce,for=0s"), HasSubstr("\"for\" must be above 0"));
  EXPECT_THAT(refusal("cpu_squeeze@rank=1,op=all_reduce,for=1s,load=0"), HasSubstr("1 to 64"));
  EXPECT_THAT(refusal("cpu_squeeze@rank=1,op=all_reduce,for=1s,load=65"), HasSubstr("1 to 64"));
}

TEST_F(Squeeze, ARankThatHadNoUseForItsCoresWasNotSqueezed) {
  run("cpu_squeeze@rank=1,op=all_reduce,for=2s");
  EXPECT_EQ(effect(), Effect::kUnknown) << "nobody measured it";
  push_line(facts.journal, {{"n", 9},
                            {"ev", "fault_effect"},
                            {"fault", "cpu_squeeze"},
                            {"action", 0},
                            {"what", "waited_for_a_core"},
                            {"waited_ns", 240'000'000},
                            {"took_ns", 1'000'000'000},
                            {"time", 110}});
  EXPECT_EQ(effect(), Effect::kVoid);
  set_key(facts.journal[0], "waited_ns", 250'000'000);
  EXPECT_EQ(effect(), Effect::kVerified);
  set_key(facts.journal[0], "took_ns", 0);
  EXPECT_EQ(effect(), Effect::kVoid) << "no time to speak of";
  set_key(facts.journal[0], "took_ns", 1'000'000'000);
  set_key(facts.journal[0], "error", "Resource temporarily unavailable");
  EXPECT_EQ(effect(), Effect::kVoid) << "nothing was busy";
}

TEST_F(Squeeze, AFolderIsMountedAndWatched) {
  const Result<Plan> made = plan("disk_full@ranks=all,path=checkpoints,size=8192");
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ASSERT_EQ(made->actions.size(), 4u);
  EXPECT_EQ(made->actions[0].outside, "mount");
  EXPECT_EQ(made->actions[0].path, "checkpoints");
  EXPECT_EQ(made->actions[0].size, 8192);
  for (const size_t i : {1u, 2u, 3u}) EXPECT_EQ(made->actions[i].at.path, "*/checkpoints/*");
  EXPECT_EQ(made->preload, std::vector<std::string>{"libc"});
  EXPECT_THAT(refusal("disk_full@rank=1,path=a"), HasSubstr("ranks: all"));
  EXPECT_THAT(refusal("disk_full@ranks=all,path=a,size=100"), HasSubstr("a page"));
  EXPECT_THAT(refusal("disk_full@ranks=all,path=a,op=all_reduce"), HasSubstr("no trigger"));
  for (const std::string& path : {std::string("/etc"), std::string("a/b"), std::string(".."),
                                  std::string("a*"), std::string("a\\b"), std::string(300, 'a')})
    EXPECT_THAT(refusal("disk_full@ranks=all,path=" + path), HasSubstr("the name of a folder"));
}

class FullDisk : public Squeeze {
 protected:
  void uses(rf_op op, rf_phase phase, uint64_t time, uint64_t count, int error) {
    process(2).name_at[40] = path;
    rf_record& made = record(2, op, 40, phase, time, error);
    made.library = RF_LIB_LIBC;
    made.count = count;
  }
  void mounted() {
    push_line(facts.journal, {{"n", 1},
                              {"ev", "mounted"},
                              {"fault", facts.plan.scenario.faults[0].id},
                              {"path", "/tmp/rf.1/checkpoints"},
                              {"bytes", 8192}});
  }
  std::string path = "/tmp/rf.1/checkpoints/c.bin";
};

TEST_F(FullDisk, SomebodyMustLackSpace) {
  run("disk_full@ranks=all,path=checkpoints");
  EXPECT_EQ(effect(), Effect::kNotFired);
  mounted();
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(RF_OP_FILE_WRITE, RF_PHASE_ENTER, 200, 100, 0);
  uses(RF_OP_FILE_WRITE, RF_PHASE_EXIT, 210, 100, 0);
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(RF_OP_FILE_ALLOCATE, RF_PHASE_EXIT, 300, 100, ENOSPC);
  const EffectReport report = verdict();
  EXPECT_EQ(report.effect, Effect::kVerified);
  EXPECT_EQ(report.at, instant_of(300));
  EXPECT_THAT(report.how, HasSubstr("rank 2's allocate of /tmp/rf.1/checkpoints/c.bin failed with ENOSPC"));
}

TEST_F(FullDisk, AShortWriteLackedSpace) {
  run("disk_full@ranks=all,path=checkpoints");
  mounted();
  uses(RF_OP_FILE_WRITE, RF_PHASE_ENTER, 200, 100, 0);
  uses(RF_OP_FILE_WRITE, RF_PHASE_EXIT, 210, 60, 0);
  EXPECT_EQ(effect(), Effect::kVerified);
  EXPECT_THAT(verdict().how, HasSubstr("wrote only 60 of 100 bytes"));
}

TEST_F(FullDisk, AnotherFaultsFailedWriteIsNoLackOfSpace) {
  run("disk_full@ranks=all,path=checkpoints");
  mounted();
  fail_call_at(2, "write", 200, path);
  uses(RF_OP_FILE_WRITE, RF_PHASE_ENTER, 205, 100, 0);
  uses(RF_OP_FILE_WRITE, RF_PHASE_EXIT, 210, 0, ENOSPC);
  EXPECT_EQ(effect(), Effect::kVoid);
  uses(RF_OP_FILE_WRITE, RF_PHASE_EXIT, 300, 0, ENOSPC);
  EXPECT_EQ(verdict().at, instant_of(300));
}

TEST_F(FullDisk, AnotherDiskIsNotOurs) {
  run("disk_full@ranks=all,path=checkpoints");
  mounted();
  path = "/tmp/rf.1/checkpoints2/c.bin";
  uses(RF_OP_FILE_WRITE, RF_PHASE_EXIT, 210, 60, ENOSPC);
  EXPECT_EQ(effect(), Effect::kVoid);
}

}  // namespace
}  // namespace rankfault
