// every_act_test: properties of every act of the harness, whatever it does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "harness/base/process_tree.h"
#include "harness/inject/act_context.h"

namespace rankfault::test {
namespace {

class EveryAct : public testing::TestWithParam<const ExternalAct*> {
 protected:
  ~EveryAct() override {
    ::kill(victim_.pid, SIGKILL);
    ::waitpid(victim_.pid, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  static std::string fresh_folder() {
    char name[] = "/tmp/rftest.XXXXXX";
    return ::mkdtemp(name);
  }

  static ProcessId started() {
    ProcessId id;
    id.pid = ::fork();
    if (id.pid == 0)
      for (;;) ::pause();
    id.start = proc_stat(id.pid)->start;
    return id;
  }

  std::string folder_ = fresh_folder();
  ProcessId victim_ = started();
  Plan plan_;
  Journal journal_ = *Journal::create(folder_ + "/journal");
  ControlPage page_ = *ControlPage::create(folder_ + "/control", 2, std::chrono::seconds(2));
  UndoList undo_ = *UndoList::open(folder_ + "/undo");
  ActRun run_{plan_, page_, journal_, undo_, victim_.pid, "", [](uint32_t, int, int) -> Status {
                return refused("no load");
              }};
};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAct, testing::ValuesIn(Catalog<ExternalAct>::instance().all()),
                         [](const auto& entry) { return std::string(entry.param->name); });

TEST_P(EveryAct, SaysWhatItDoes) {
  Action action;
  action.outside = GetParam()->name;
  EXPECT_FALSE(act_of(action).words(action).empty());
}

TEST_P(EveryAct, CanBePerformedExactlyAtAGateOrLater) {
  const ActTime when = GetParam()->when;
  EXPECT_EQ(GetParam()->perform != nullptr, when == ActTime::kAtGate || when == ActTime::kLater);
}

// The victim does not descend from the guardian, because it is the guardian.
TEST_P(EveryAct, TouchesNothingOfAnotherJob) {
  if (!GetParam()->perform) return;
  Action action;
  action.outside = GetParam()->name;
  action.signal = SIGKILL;
  action.size = 1;
  ActContext context{.run = &run_, .action = &action, .process = victim_};
  EXPECT_FALSE(GetParam()->perform(context).ok());
  EXPECT_EQ(::waitpid(victim_.pid, nullptr, WNOHANG), 0);
}

}  // namespace
}  // namespace rankfault::test
