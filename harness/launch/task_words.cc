#include "harness/launch/task_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/launch/task_environment.h"

namespace rankfault {

void add_task_environment(const LaunchContext& context, std::map<std::string, std::string>& env) {
  std::vector<std::string> preload{context.agent};
  preload.insert(preload.end(), context.extra_preload.begin(), context.extra_preload.end());
  env[RF_TASK_PRELOAD] = fmt::format("{}", fmt::join(preload, ":"));
  env[RF_TASK_DIR] = context.nodes->dir;
  env[RF_TASK_TOOL] = fmt::format("{} {}", context.nodes->host, context.nodes->port);
  env[RF_TASK_KEY] = context.nodes->key;
}

const std::vector<std::string>& task_variables() {
  static const std::vector<std::string> names{RF_TASK_PRELOAD, RF_TASK_DIR, RF_TASK_TOOL, RF_TASK_KEY};
  return names;
}

std::string task_program(const LaunchContext& context) { return context.bin_dir + "/rankfault-task"; }

}  // namespace rankfault
