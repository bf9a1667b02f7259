// numbered_groups: groups of PyTorch, which each process names by the number of its calls of new_group. All
// ranks must call it for each group, also for groups that they are not in; else one number means two groups.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/diagnose/model/view.h"

namespace rankfault {

bool is_numbered_creation(const Call&);
std::string numbered_name(int number);  // "group2", as its communicator is named

struct MadeGroup {
  const Process* process;
  const Call* call;
};

// Ranks that made, or are making, different groups under one number: the sizes differ, or two ranks are the
// same member of it.
struct GroupDispute {
  int number = 0;
  std::vector<MadeGroup> made;  // by rank
  std::vector<MadeGroup> odd;   // those of the smaller camp by size; empty if the camps are equal
};

// Returns the dispute with the smallest number. Later numbers differ because of it. It looks only at groups
// of the newest world of each process: numbers begin anew in each.
std::optional<GroupDispute> first_dispute(const JobView&);

// For each numbered group that the text names: "group2 is made by new_group at main() at train.py:10".
// Readers know the line, not the number.
std::vector<std::string> lines_about_groups(const JobView&, const std::string& text);

}  // namespace rankfault
