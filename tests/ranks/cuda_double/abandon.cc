// abandon.cc: leaves segments as NCCL does when it gives up: made, closed, and no longer held by any process.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

// Makes forty segments, each open for microseconds: looks every few milliseconds cannot see all of them.
void abandoned() {
  ncclComm_t comm = communicator("job");
  if (rank::rank == 1)
    for (int i = 0; i < 40; ++i) {
      char path[] = "/dev/shm/nccl-XXXXXX";
      const int fd = mkstemp(path);
      MUST(fd >= 0);
      close(fd);
    }
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered_abandoned("abandoned_segments", abandoned);

}  // namespace
