// SafeBarrier: a barrier that may say no, and says the same to every rank.
//
// A limit of each rank's own cannot do that: the last rank may come just as the first one gives up, and one
// has seen all while the other has not. So the answer is decided once, for all, outside of the communicator:
// by a record that can be made a single time. The rank that sees all arrived proposes "met", a rank whose
// limit is over proposes "not met", the first proposal stands, and everybody, however late, takes what
// stands. Nobody waits for a particular rank: each leaves within its own limit, also when rank 0 is the one
// that sleeps. The communicator is not touched, so it is as good after a "no" as before.
//
// Here the record is a symbolic link in a directory that all ranks see: symlink(2) makes it with its value or
// fails with EEXIST. PyTorch's TCPStore::compareSet, an etcd transaction or MPI_Compare_and_swap do the same
// elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace trainer {

class SafeBarrier {
 public:
  // `directory`: of this job and attempt alone. Made when it is not there.
  SafeBarrier(std::string directory, int rank, int size);

  // Every rank makes the same barriers in the same order. Throws std::runtime_error when the directory fails.
  bool wait(std::chrono::milliseconds limit);

  // The same without the agreement: each rank believes what it sees itself. Here to be shown wrong.
  bool wait_and_believe(std::chrono::milliseconds limit);

 private:
  std::string place_of(const std::string& what) const;
  void arrive();
  bool all_arrived() const;
  // What stands: "" when nothing does.
  std::string decision() const;
  void propose(const char* answer) const;

  std::string directory_;
  int rank_, size_;
  int64_t round_ = 0;
};

}  // namespace trainer
