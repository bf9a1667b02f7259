// room: checks, before anything is launched, whether this machine has what a run needs.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/launch/launcher.h"

namespace rankfault {

// Checks disk room, file size limit and number of descriptors for the flight records of `ranks` ranks (0: no
// records are written). The error names what is short and how much is needed.
Status room_for(const std::string& run_dir, int ranks);

// Reserves room for each of these logs. Until it is used up, a full disk does not fail the job's own output.
void reserve_logs(const std::vector<LaunchItem>&);
// Gives back the unused room of the files in a folder.
void give_back_room(const std::string& folder);

// While this object lives, this process may open as many files as its hard limit allows. Processes that were
// started before keep the user's limit.
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
