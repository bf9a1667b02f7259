// DeathOrder: which of the processes watched died, in the order in which they died.
//
// A launcher that loses a rank may kill all the others within the same millisecond (MPICH's hydra does). A
// tool that gets its turn only after that would see them dead together, and take the wrong one for the first.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/base/unique_fd.h"

namespace rankfault {

class DeathOrder {
 public:
  DeathOrder();
  bool add(int pidfd, uint64_t token);  // false: it cannot be watched here
  int fd() const { return fd_.get(); }  // readable once somebody has died
  // The tokens of those that died since the last call, the first death first. Each is told once.
  std::vector<uint64_t> take();

 private:
  UniqueFd fd_;
};

}  // namespace rankfault
