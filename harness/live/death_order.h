// DeathOrder: which of the watched processes died, in the order in which they died.
//
// A launcher that loses a rank may kill all the others within the same millisecond (MPICH's hydra does). A
// tool that runs only after that would see all of them dead at once and could name the wrong one as the
// first.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/base/unique_fd.h"

namespace rankfault {

class DeathOrder {
 public:
  DeathOrder();
  bool add(int pidfd, uint64_t token);  // false: this process cannot be watched here
  int fd() const { return fd_.get(); }  // readable after a process has died
  // The tokens of the processes that died since the last call, the first death first. Returns each token
  // once.
  std::vector<uint64_t> take();

 private:
  UniqueFd fd_;
};

}  // namespace rankfault
