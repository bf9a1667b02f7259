// SafeBarrier: a barrier that may answer "not met", and gives the same answer to every rank.
//
// A limit on each rank alone cannot do that. The last rank may arrive just when the first one gives up: then
// one rank has seen all ranks, and the other has not. So there is one decision for all ranks, outside of the
// communicator: a record that can be made only once. A rank that sees that all have arrived proposes "met". A
// rank whose limit has passed proposes "not met". The first proposal is the decision, and every rank takes
// it, however late it is. No rank waits for a particular rank: each leaves within its own limit, even if rank
// 0 is the late one. The barrier does not use the communicator, which stays usable after a "not met".
//
// Here the record is a symbolic link in a directory that all ranks see: symlink(2) makes it with its value,
// or fails with EEXIST. PyTorch's TCPStore::compareSet, an etcd transaction or MPI_Compare_and_swap can do
// the same.
#pragma once

#include <chrono>
#include <string>

namespace trainer {

class SafeBarrier {
 public:
  // `directory` belongs to this job and attempt alone. It is made if it is absent.
  SafeBarrier(std::string directory, int rank, int size);

  // Every rank makes the same barriers in the same order. Returns true if all ranks met. Throws
  // std::runtime_error if the directory fails.
  bool wait(std::chrono::milliseconds limit);

  // The same without a common decision: each rank uses what it sees itself. It exists to show that this is
  // wrong.
  bool wait_and_believe(std::chrono::milliseconds limit);

 private:
  std::string place_of(const std::string& what) const;
  void arrive();
  bool all_arrived() const;
  // The decision; "": none yet.
  std::string decision() const;
  void propose(const char* answer) const;

  std::string directory_;
  int rank_, size_;
  int64_t round_ = 0;
};

}  // namespace trainer
