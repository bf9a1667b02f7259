// no_pass_test: for every kind of fault one run in which it did nothing, and one whose record only claims
// that it did. The first is void, and the second is never verified. A kind that lacks one of them fails this
// test.
#include <functional>
#include <map>

#include "tests/support/journal_lines.h"
#include "verify_fixture.h"

namespace rankfault {
namespace {

class NoPass : public Verify {
 public:
  using Verify::facts, Verify::gate, Verify::process, Verify::record;
  void TestBody() override {}
  void plan(const std::string& example) { run(example, 4); }

  NoPass& claims(const char* what, Json more = Json::object(), const char* fault = nullptr) {
    Json line = {{"n", 9}, {"t", 130}, {"ev", "fault_effect"}, {"action", 0}, {"what", what}, {"time", 130}};
    line["fault"] = fault ? fault : facts.plan.scenario.faults[0].id.c_str();
    line.update(more);
    push_line(facts.journal, std::move(line));
    return *this;
  }
  NoPass& mounted() {
    push_line(facts.journal, {{"n", 2},
                              {"t", 5},
                              {"ev", "mounted"},
                              {"fault", facts.plan.scenario.faults[0].id},
                              {"path", "/tmp/rf.1/checkpoints"},
                              {"bytes", 65536}});
    return *this;
  }
  NoPass& delayed(Json more) {
    Json line = {{"n", 4}, {"ev", "fault_done"}, {"fault", "slow_rank"}, {"action", 0}, {"firings", 7}};
    line.update(more);
    push_line(facts.journal, std::move(line));
    return *this;
  }
  NoPass& started(int rank, uint64_t at) {
    push_line(facts.journal, {{"n", facts.journal.size() + 1},
                              {"t", at},
                              {"ev", "spawned"},
                              {"rank", rank},
                              {"attempt", 0},
                              {"pid", 1000 + rank}});
    return *this;
  }
  // A call of any rank on a name.
  NoPass& uses(rf_op op, uint64_t time, int error, const char* path = "/dev/shm/seg.1", int flags = 0) {
    process(victim()).name_at[40] = path;
    rf_record& end = record(victim(), op, 40, RF_PHASE_EXIT, time, error);
    end.library = RF_LIB_LIBC;
    end.where = 5;
    end.count = 7;
    end.flags = static_cast<uint16_t>(flags);
    return *this;
  }
  NoPass& segment(const char* what) { return claims(what, {{"path", "/dev/shm/vader_segment.1"}}); }
  NoPass& file() { return claims("file_harmed", {{"path", "/tmp/c"}, {"inode", 7}, {"born", 5}}); }
  NoPass& all_call(uint64_t to, int but = -1) {
    for (int rank = 0; rank < 4; ++rank)
      if (rank != but) calls(rank, 1, to);
    return *this;
  }
  NoPass& ends(int rank, ExitStatus::Kind kind, int value, uint64_t at = 500) {
    end(rank, kind, value);
    facts.ends.back().time = instant_of(at);
    return *this;
  }
  NoPass& asked_for(const char* op) {
    gate.op = op;
    return *this;
  }
  NoPass& took(uint64_t answered, uint64_t done) {
    gate.answered = instant_of(answered);
    gate.done = instant_of(done);
    return *this;
  }
  NoPass& told(const char* effect) {
    gate.effect = effect;
    return *this;
  }
  NoPass& marked(const char* what, int rank, uint64_t time, const char* name = "") {
    facts.marks.push_back({what, rank, 0, instant_of(time), 1, name, 0});
    return *this;
  }
  int victim() const { return facts.plan.actions[0].rank; }
  int fail_code() const { return facts.plan.actions[0].fail_code; }
  EffectReport report() { return verdict(); }
};

using Act = std::function<void(NoPass&)>;
struct Runs {
  Act nothing, lies;
};

constexpr auto kCode = ExitStatus::Kind::kCode;
constexpr auto kSignal = ExitStatus::Kind::kSignal;
constexpr const char* kVader = "/dev/shm/vader_segment.1";

// `lies`: the harness or the agent says that it acted, but the evidence belongs to another rank, another name
// or another fault, or is too early.
const std::map<std::string, Runs>& table() {
  static const std::map<std::string, Runs> runs{
      {"change_argument",
       {[](NoPass& r) { r.all_call(3); },
        [](NoPass& r) {
          r.all_call(3);
          r.process(0).history[0].record.count = 4;  // of call 1
        }}},
      {"cpu_squeeze",
       {[](NoPass& r) {
          r.claims("waited_for_a_core", {{"waited_ns", 0}, {"took_ns", 1'000'000'000}});
        },
        [](NoPass& r) {
          r.claims("waited_for_a_core", {{"waited_ns", 9}, {"took_ns", 9}}, "other");
        }}},
      {"cuda_error",
       {[](NoPass& r) { r.record(r.victim(), RF_OP_STREAM_WAIT, 3, RF_PHASE_EXIT, 310, 0); },
        [](NoPass& r) { r.record(r.victim(), RF_OP_STREAM_WAIT, 3, RF_PHASE_EXIT, 50, r.fail_code()); }}},
      {"delay_call",
       {[](NoPass& r) { r.took(110, 210); },
        [](NoPass& r) { r.took(1'000'000'000, 1'500'000'001); }}},  // the gate alone took longer
      {"descriptor_squeeze",
       {[](NoPass& r) { r.claims("limited"); },
        [](NoPass& r) { r.claims("limited").uses(RF_OP_FILE_OPEN, 50, EMFILE, "/tmp/x"); }}},
      {"disk_full",
       {[](NoPass& r) { r.mounted().uses(RF_OP_FILE_WRITE, 150, 0, "/tmp/rf.1/checkpoints/a"); },
        [](NoPass& r) { r.mounted().uses(RF_OP_FILE_WRITE, 150, ENOSPC, "/elsewhere/a"); }}},
      {"fail_call",
       {[](NoPass& r) { r.asked_for("write").uses(RF_OP_FILE_WRITE, 150, 0); },
        [](NoPass& r) { r.asked_for("write").uses(RF_OP_FILE_WRITE, 50, ENOSPC); }}},
      {"file_flip_bit",
       {[](NoPass& r) { r.file(); },
        [](NoPass& r) {
          r.file().uses(RF_OP_FILE_OPEN, 150, 0, "/tmp/c", RF_OPEN_WRITES | RF_OPEN_EMPTIES);
        }}},
      {"file_truncate",
       {[](NoPass& r) { r.file(); },
        [](NoPass& r) { r.file().uses(RF_OP_FILE_OPEN, 150, 0, "/tmp/c", RF_OPEN_WRITES); }}},
      {"file_unlink",
       {[](NoPass& r) { r.file(); },
        [](NoPass& r) { r.file().uses(RF_OP_FILE_OPEN, 150, ENOENT, "/tmp/another"); }}},
      {"flip_value", {[](NoPass&) {}, [](NoPass& r) { r.marked("value", r.victim() + 1, 125, "weights"); }}},
      {"helper_kill",
       {[](NoPass& r) { r.claims("helper_lives"); },
        [](NoPass& r) { r.claims("helper_ended", Json::object(), "other"); }}},
      {"launcher_kill",
       {[](NoPass& r) { r.claims("launcher_lives"); },
        [](NoPass& r) { r.claims("launcher_ended", Json::object(), "other"); }}},
      {"memory_squeeze",
       {[](NoPass& r) { r.claims("limited"); },
        [](NoPass& r) { r.claims("limited").ends(r.victim() + 1, kCode, 1); }}},
      {"node_kill",
       {[](NoPass& r) { r.claims("launcher_ended"); },
        [](NoPass& r) { r.ends(r.victim(), kSignal, SIGKILL); }}},  // its launcher may live
      {"rank_exit", {[](NoPass&) {}, [](NoPass& r) { r.ends(r.victim() - 1, kCode, 0); }}},
      {"rank_kill", {[](NoPass&) {}, [](NoPass& r) { r.ends(r.victim() - 1, kSignal, SIGKILL); }}},
      {"rank_signal", {[](NoPass&) {}, [](NoPass& r) { r.ends(r.victim() - 1, kSignal, SIGSEGV); }}},
      {"rank_stop",
       {[](NoPass& r) { r.told("none"); }, [](NoPass& r) { r.claims("stopped", Json::object(), "other"); }}},
      {"shm_chmod",
       {[](NoPass& r) { r.segment("mode_changed"); },
        [](NoPass& r) { r.segment("mode_changed").uses(RF_OP_SHM_ATTACH, 150, EACCES); }}},
      {"shm_full",
       {[](NoPass& r) { r.mounted().ends(0, kCode, 0).ends(1, kCode, 0); },
        [](NoPass& r) {
          Action kill;
          kill.id = static_cast<uint32_t>(r.facts.plan.actions.size());
          kill.verb = RF_VERB_RAISE;
          kill.signal = SIGKILL;
          r.facts.plan.actions.push_back(kill);
          r.gate.action = kill.id;
          r.mounted().ends(1, kSignal, SIGKILL);
        }}},
      {"shm_replace",
       {[](NoPass& r) { r.segment("segment_replaced"); },
        [](NoPass& r) { r.segment("segment_replaced").uses(RF_OP_SHM_ATTACH, 50, 0, kVader); }}},
      {"shm_stale",
       {[](NoPass& r) { r.segment("segment_left"); },
        [](NoPass& r) {
          r.segment("segment_left").uses(RF_OP_SHM_CREATE, 50, 0, kVader);
          r.uses(RF_OP_SHM_CREATE, 150, EEXIST, kVader);
        }}},
      {"shm_truncate",
       {[](NoPass& r) { r.segment("segment_truncated"); },
        [](NoPass& r) { r.segment("segment_truncated").ends(2, kSignal, SIGBUS, 50); }}},
      {"shm_unlink",
       {[](NoPass& r) { r.segment("segment_gone"); },
        [](NoPass& r) { r.uses(RF_OP_SHM_ATTACH, 150, ENOENT, kVader); }}},  // no harm was done
      {"short_write",
       {[](NoPass&) {},
        [](NoPass& r) {
          r.record(0, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 125).count = 800;
          r.record(0, RF_OP_FILE_WRITE, 40, RF_PHASE_ENTER, 130).count = 100;  // already of that size
        }}},
      {"skip_call",
       {[](NoPass& r) { r.all_call(2); }, [](NoPass& r) { r.told("none").all_call(5, r.victim()); }}},
      {"slow_rank",
       {[](NoPass& r) {
          r.delayed({{"held_least_ns", 61}});
        },
        [](NoPass& r) { r.delayed(Json::object()); }}},
      {"start",
       {[](NoPass& r) { r.started(0, 10).started(2, 12); },
        [](NoPass& r) { r.started(0, 10).started(2, 12).started(3, 900'000'000); }}},
      {"uneven_batches",
       {[](NoPass& r) { r.marked("batch", 2, 50).marked("batch", 0, 50); },
        [](NoPass& r) { r.marked("batch", 0, 50).marked("batch", 0, 60).marked("batch", 2, 160); }}},
  };
  return runs;
}

class EveryKind : public testing::TestWithParam<const FaultKind*> {
 protected:
  EffectReport report_of(Act Runs::*which) {
    NoPass run;
    run.plan(GetParam()->example);
    if (const auto found = table().find(GetParam()->name); found != table().end())
      (found->second.*which)(run);
    return run.report();
  }
};

TEST_P(EveryKind, HasARunWithoutEffectAndOneThatLies) {
  EXPECT_TRUE(table().count(GetParam()->name)) << "add both to this table";
}

TEST_P(EveryKind, IsVoidWhenItDidNothing) {
  const EffectReport report = report_of(&Runs::nothing);
  EXPECT_EQ(report.effect, Effect::kVoid) << report.how;
  EXPECT_FALSE(is_known(report.at));
}

TEST_P(EveryKind, IsNotVerifiedByARecordThatLies) {
  const EffectReport report = report_of(&Runs::lies);
  EXPECT_NE(report.effect, Effect::kVerified) << report.how;
  EXPECT_NE(report.how, "");
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryKind, testing::ValuesIn(Catalog<FaultKind>::instance().all()),
                         [](const auto& entry) { return std::string(entry.param->name); });

}  // namespace
}  // namespace rankfault
