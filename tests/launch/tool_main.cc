// launch_tool: the part of rankfault that holds a job: RUN_DIR LAUNCHER RANKS COMMAND... Prints the
// guardian's pid when everything is spawned, then only listens.
#include <fmt/format.h>
#include <poll.h>

#include <cstdlib>

#include "harness/launch/launcher.h"

int main(int argc, char** argv) {
  using namespace rankfault;
  if (argc < 5) return 64;
  Plan plan;
  Workload& workload = plan.scenario.workload;
  workload.ranks = std::atoi(argv[3]);
  workload.command.assign(argv + 4, argv + argc);
  if (const char* mpirun = std::getenv("TEST_MPIRUN")) workload.mpirun = mpirun;
  Result<RunDir> run = RunDir::create(argv[1], "test");
  if (!run.ok()) return 65;
  Result<Guardian> guardian = Guardian::start(*run);
  if (!guardian.ok()) return 66;
  const Launcher* launcher = Catalog<Launcher>::instance().find(argv[2]);
  const LaunchContext context{plan, *run, 0, "", "", {}};
  auto items = launcher->items(context);
  if (!items.ok()) return 67;
  uint32_t tag = 0;
  for (const LaunchItem& item : *items)
    if (!guardian->spawn(++tag, item.command).ok()) return 68;
  fmt::print("{}\n", guardian->pid());
  std::fflush(stdout);
  for (;;) {
    pollfd readable{guardian->fd(), POLLIN, 0};
    ::poll(&readable, 1, -1);
    while (const auto event = guardian->next())
      if (event->kind == GuardianEvent::Kind::kLost) return 69;
  }
}
