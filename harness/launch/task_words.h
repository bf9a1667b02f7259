// task_words: how a launcher starts each task of a job on several nodes: below rankfault-task, which finds
// all it needs in its environment (task_environment.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/launch/launcher.h"

namespace rankfault {

// True if the tasks of this launch need a parent on their nodes.
inline bool has_task_parents(const LaunchContext& context) { return context.nodes && !context.agent.empty(); }

// The variables, for the environment of the launcher's own program. One of them is the run's key: it must
// reach the tasks by the environment, never as an argument.
void add_task_environment(const LaunchContext&, std::map<std::string, std::string>& env);
const std::vector<std::string>& task_variables();  // their names
// The words before the program.
std::string task_program(const LaunchContext&);

}  // namespace rankfault
