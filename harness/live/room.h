// room: whether this machine has what a run needs, asked before anything is launched.
#pragma once

#include <sys/resource.h>

#include <string>

#include "harness/base/result.h"

namespace rankfault {

// Room on the disk, size of files and number of descriptors, for the flight records of so many ranks (0: none
// are written). The error names what is short and how much is needed.
Status room_for(const std::string& run_dir, int ranks);

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
