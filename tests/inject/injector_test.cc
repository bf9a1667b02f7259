// injector_test: the answers at the gate are journaled, even if a process dies meanwhile. The test plays the
// agent.
#include "harness/inject/injector.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "harness/base/process_tree.h"

namespace rankfault::test {
namespace {

class InjectorTest : public testing::Test {
 protected:
  InjectorTest() {
    victim_.host = this_host();
    victim_.pid = ::fork();
    if (victim_.pid == 0)
      for (;;) ::pause();
    victim_.start = proc_stat(victim_.pid)->start;
    Action skip;
    skip.fault = "f";
    skip.verb = RF_VERB_SKIP;
    plan_.actions = {skip};
  }
  ~InjectorTest() override {
    kill_victim();
    std::filesystem::remove_all(folder_);
  }
  void kill_victim() {
    if (victim_.pid <= 0) return;
    ::kill(victim_.pid, SIGKILL);
    ::waitpid(victim_.pid, nullptr, 0);
    victim_.pid = 0;
  }
  rf_gate_slot& asks() {
    rf_gate_slot& slot = page_->slots[0];
    slot.pid = victim_.pid;
    slot.start_time = victim_.start;
    slot.op = RF_OP_ALL_REDUCE;
    slot.seq = 19;
    slot.state = RF_GATE_ASKED;
    injector_.serve();
    return slot;
  }
  void says(rf_gate_slot& slot, rf_effect effect) {
    slot.effect = effect;
    RF_STORE(&slot.state, static_cast<uint32_t>(RF_GATE_DONE));
  }
  std::vector<Json> journaled() const {
    std::vector<Json> lines;
    std::ifstream file(folder_ + "/journal");
    for (std::string text; std::getline(file, text);) lines.push_back(Json::parse(text));
    return lines;
  }
  // The journal's fault lines: "fault_done done", "fault_effect ended".
  std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const Json& line : journaled()) {
      const std::string event = line.value("ev", "");
      if (event == "fault_done") lines.push_back(event + " " + line.value("effect", ""));
      if (event == "fault_effect") lines.push_back(event + " " + line.value("what", ""));
      if (event == "fault_answered") lines.push_back("answered " + line.value("answer", ""));
    }
    return lines;
  }

  static std::string fresh_folder() {
    char name[] = "/tmp/rftest.XXXXXX";
    return ::mkdtemp(name);
  }

  std::string folder_ = fresh_folder();
  ProcessId victim_;
  Plan plan_;
  Journal journal_ = *Journal::create(folder_ + "/journal");
  ControlPage page_ = *ControlPage::create(folder_ + "/control", 2, std::chrono::seconds(2));
  UndoList undo_ = *UndoList::open(folder_ + "/undo");
  Injector injector_{plan_, page_, journal_, undo_, ::getpid()};
};

Action outside(const char* act) {
  Action action;
  action.fault = "f";
  action.verb = RF_VERB_OUTSIDE;
  action.outside = act;
  return action;
}

using testing::ElementsAre;

TEST_F(InjectorTest, JournalsWhatWasDone) {
  rf_gate_slot& slot = asks();
  EXPECT_EQ(slot.answer, static_cast<uint32_t>(RF_ANSWER_GO));
  says(slot, RF_EFFECT_DONE);
  injector_.serve();
  EXPECT_THAT(told(), ElementsAre("answered go", "fault_done done"));
  EXPECT_EQ(slot.state, static_cast<uint32_t>(RF_GATE_FREE));
}

TEST_F(InjectorTest, AVictimThatDiesRightAfterItSaidSoIsHeard) {
  rf_gate_slot& slot = asks();
  says(slot, RF_EFFECT_DONE);
  const ProcessId victim = victim_;
  kill_victim();
  injector_.process_ended(victim, Instant(1ns));
  EXPECT_THAT(told(), ElementsAre("answered go", "fault_done done"));
}

TEST_F(InjectorTest, AVictimThatDiesWithoutAWordHasEnded) {
  asks();
  const ProcessId victim = victim_;
  kill_victim();
  injector_.process_ended(victim, Instant(1ns));
  EXPECT_THAT(told(), ElementsAre("answered go", "fault_effect ended"));
  EXPECT_FALSE(injector_.any_park_open());
}

// The guardian, which tells the end, does not count execs; the gate's slot does.
TEST_F(InjectorTest, TheEndOfAVictimThatCalledExecNamesTheProcessThatAsked) {
  page_->slots[0].image = 1;
  asks();
  const ProcessId victim = victim_;
  kill_victim();
  injector_.process_ended(victim, Instant(1ns));
  const std::vector<Json> lines = journaled();
  ASSERT_THAT(told(), ElementsAre("answered go", "fault_effect ended"));
  EXPECT_EQ(lines[0]["process"], lines[1]["process"]);
}

TEST_F(InjectorTest, AProcessOfAnotherJobIsRefused) {
  rf_gate_slot& slot = page_->slots[0];
  slot.pid = 1;
  slot.start_time = 0;
  slot.state = RF_GATE_ASKED;
  injector_.serve();
  EXPECT_EQ(slot.answer, static_cast<uint32_t>(RF_ANSWER_NO_GO));
  EXPECT_THAT(told(), ElementsAre("answered no_go"));
}

TEST_F(InjectorTest, AVictimThatIsKilledAtTheGateIsNotReleased) {
  plan_.actions = {outside("signal")};
  plan_.actions[0].signal = SIGKILL;
  asks();
  EXPECT_THAT(told(), ElementsAre("fault_done done"));
  EXPECT_EQ(injector_.signal_sent(victim_)->signal, SIGKILL);
}

TEST_F(InjectorTest, AVictimOfARefusedActIsReleased) {
  plan_.actions = {outside("leave_stale")};
  asks();
  EXPECT_THAT(told(), ElementsAre("fault_done refused", "answered release"));
}

TEST_F(InjectorTest, AnActForLaterFollowsItsAction) {
  Action lift = outside("unlimit");
  lift.id = 1;
  lift.verb = RF_VERB_NONE;
  lift.after = 0;
  plan_.actions = {outside("limit"), lift};
  for (Action& action : plan_.actions) action.mode = RLIMIT_NOFILE;
  asks();
  EXPECT_THAT(told(), ElementsAre("fault_effect limited", "fault_done done", "answered release"));
  injector_.tick();
  EXPECT_THAT(told(), ElementsAre("fault_effect limited", "fault_done done", "answered release",
                                  "fault_effect unlimited", "fault_done done"));
}

TEST_F(InjectorTest, FiresOnceAndNoMore) {
  says(asks(), RF_EFFECT_DONE);
  injector_.serve();
  EXPECT_EQ(asks().answer, static_cast<uint32_t>(RF_ANSWER_NO_GO));
}

}  // namespace
}  // namespace rankfault::test
