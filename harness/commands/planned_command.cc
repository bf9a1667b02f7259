#include "harness/commands/planned_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/mask.h"
#include "harness/base/own_environment.h"
#include "harness/commands/launcher_options.h"
#include "harness/launch/installed_files.h"
#include "harness/launch/launcher.h"

namespace rankfault {
namespace {

// The variables that the command gets beside those of this process, without those of the agent.
std::vector<std::string> added(const std::map<std::string, std::string>& env) {
  const std::map<std::string, std::string> own = own_environment();
  std::vector<std::string> lines;
  for (const auto& [name, value] : env) {
    const auto before = own.find(name);
    if (name.starts_with("RANKFAULT_") || (before != own.end() && before->second == value)) continue;
    lines.push_back(fmt::format("env       {}={}", name, masked_value(name, value)));
  }
  return lines;
}

std::vector<std::string> words_of(const std::vector<LaunchItem>& items, const Plan& plan) {
  std::vector<std::string> lines;
  const bool one_each = plan.scenario.workload.launcher == LauncherKind::kLocal;
  for (const LaunchItem& item : items) {
    lines.push_back(
        fmt::format("command   {}{}", fmt::join(masked_words(item.command.argv), " "),
                    one_each && items.size() > 1 ? "  (this is rank 0; each rank has its own)" : ""));
    if (!item.command.cwd.empty()) lines.push_back("cwd       " + item.command.cwd);
    if (one_each) break;
  }
  if (items.empty()) return lines;
  for (std::string& line : added(items.front().command.env)) lines.push_back(std::move(line));
  lines.push_back("agent     LD_PRELOAD and RANKFAULT_* variables load it into every rank");
  return lines;
}

}  // namespace

std::vector<std::string> planned_command(const Plan& plan) {
  const Workload& workload = plan.scenario.workload;
  const Launcher* launcher = Catalog<Launcher>::instance().find(to_text(workload.launcher));
  RF_ASSERT(launcher, "a scenario named a launcher that is not registered");
  if (const Status there = launcher->probe(workload); !there)
    return {fmt::format("command   not known: {}", there.error().message)};
  const Result<InstalledFiles> files = find_installed_files(plan, false);
  if (!files) return {fmt::format("command   not known: {}", files.error().message)};
  const RunDir run = RunDir::planned();
  const LaunchContext context{plan, run, 0, files->bin_dir, "", {}, files->cuda ? &*files->cuda : nullptr};
  const Result<std::vector<LaunchItem>> items = launcher->items(context);
  if (!items) return {fmt::format("command   not known: {}", items.error().message)};
  return words_of(*items, plan);
}

std::string planned_restarts(const Workload& workload) {
  const std::string ours = fmt::format("{} by rankfault", workload.restarts);
  if (workload.launcher == LauncherKind::kCommand) return ours + "; the command may restart its ranks itself";
  if (workload.launcher != LauncherKind::kTorchrun) return ours;
  std::string most = "0";
  const auto& args = workload.launcher_args;
  for (size_t i = 0; i < args.size(); ++i)
    if (const LauncherOption option = option_of(args[i]); is_option(args[i]) && option.name == "max-restarts")
      most = option.value ? *option.value : i + 1 < args.size() ? args[i + 1] : "?";
  return fmt::format("{}, {} by torchrun (--max-restarts)", ours, most);
}

}  // namespace rankfault
