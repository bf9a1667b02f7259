#include "harness/launch/start_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

void change(const LaunchContext& context, const Action& action, LaunchItem& item) {
  auto& env = item.command.env;
  if (action.path == "late") item.later_by = action.delay;
  for (const auto& [name, value] : action.env) {
    std::string told = expand(value, context, item.rank);
    if (const auto before = env.find(name); before != env.end() && before->second == told)
      item.as_others.push_back(name);
    env[name] = std::move(told);
  }
  if (action.path == "wrong_rank") env["RANK"] = env["LOCAL_RANK"] = std::to_string(action.size);
  if (action.path == "wrong_size") env["WORLD_SIZE"] = env["LOCAL_WORLD_SIZE"] = std::to_string(action.size);
}

}  // namespace

void start_otherwise(const LaunchContext& context, std::vector<LaunchItem>& items) {
  if (context.attempt != 0) return;
  for (const Action& action : context.plan.actions) {
    if (action.outside != kStartAct) continue;
    const auto item =
        std::find_if(items.begin(), items.end(), [&](const LaunchItem& i) { return i.rank == action.rank; });
    if (item == items.end()) continue;
    if (action.path == "never") {
      items.erase(item);
    } else if (action.path == "twice") {
      items.push_back(LaunchItem(*item));
      items.back().command.stdout_path += ".second";
      items.back().command.stderr_path = items.back().command.stdout_path;
    } else {
      change(context, action, *item);
      for (const auto& [name, value] : action.env)  // also for the other ranks, to show that there is a
                                                    // difference
        for (LaunchItem& one : items) one.watched.push_back(name);
    }
  }
}

Status libraries_there(const LaunchContext& context) {
  for (const Action& action : context.plan.actions) {
    const auto path = action.env.find("LD_LIBRARY_PATH");
    if (action.outside != kStartAct || path == action.env.end()) continue;
    std::istringstream folders(expand(path->second, context, action.rank));
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty() && !std::filesystem::is_directory(folder))
        return missing(
            fmt::format("rank {} needs its libraries in {}, which does not exist", action.rank, folder));
  }
  return Done{};
}

}  // namespace rankfault
