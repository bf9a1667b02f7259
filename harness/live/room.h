// room: whether this machine has what a run needs, asked before anything is launched.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/launch/launcher.h"

namespace rankfault {

// Room on the disk, size of files and number of descriptors, for the flight records of so many ranks (0: none
// are written). The error names what is short and how much is needed.
Status room_for(const std::string& run_dir, int ranks);

// Reserves room for each of these logs: until it is used up, a disk that fills does not fail the job's own
// output.
void reserve_logs(const std::vector<LaunchItem>&);
// Gives back what was not used of the files in a folder.
void give_back_room(const std::string& folder);

// While it lives, this process may open as many files as its hard limit allows. What was started before keeps
// the limit that the user gave.
class AllDescriptors {
 public:
  AllDescriptors();
  ~AllDescriptors();
  AllDescriptors(const AllDescriptors&) = delete;
  AllDescriptors& operator=(const AllDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace rankfault
