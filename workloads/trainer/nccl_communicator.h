// NcclCommunicator: a non-blocking communicator of NCCL, and the ways to make another one from it.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

class NcclCommunicator {
 public:
  // All of these throw CollectiveError. `limit` bounds the wait for the other ranks.
  static std::unique_ptr<NcclCommunicator> meet(const ncclUniqueId& id, int rank, int size, Limit limit,
                                                std::shared_ptr<NcclJob> job);
  // Every rank of the parent calls it. Returns null on a rank that is not a member.
  std::unique_ptr<NcclCommunicator> split(bool is_member, int place, Limit limit);
  // The remaining ranks call it, with a new job. Needs NCCL 2.27. `abort`: first ends the parent's operations
  // in flight.
  std::unique_ptr<NcclCommunicator> shrink(std::vector<int> lost, bool abort, Limit limit,
                                           std::shared_ptr<NcclJob> job) const;
  // Ends operations in flight and refuses new ones. Afterwards the communicator can be shrunk. Needs NCCL
  // 2.29.
  void revoke(Limit limit) const;

  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  ncclComm_t get() const { return *handle_; }

  // Waits until NCCL has completed a call on this communicator that returned `result`.
  void settle(ncclResult_t result, Patience& patience) const;
  // Reads NCCL's error state. Throws CollectiveError if it is an error.
  void look(Patience& patience) const;
  // Ends everything in flight on the job's communicators on this rank. The other ranks do not notice it.
  static void abort_all(const NcclJob& job);

 private:
  explicit NcclCommunicator(std::shared_ptr<NcclJob> job);
  std::unique_ptr<NcclCommunicator> child_of(ncclResult_t result, Patience& patience,
                                             std::unique_ptr<NcclCommunicator> child) const;
  void end();
  void abort();

  std::shared_ptr<NcclJob> job_;
  ncclComm_t* handle_;  // a thread of NCCL writes it while the communicator is made
};

}  // namespace trainer
