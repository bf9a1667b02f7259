// NcclCommunicator: one non-blocking communicator of NCCL, and the ways to make another one of it.
#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <vector>

#include "workloads/trainer/nccl_patience.h"

namespace trainer {

class NcclCommunicator {
 public:
  // All of these throw CollectiveError; `limit` is for the other ranks to come.
  static std::unique_ptr<NcclCommunicator> meet(const ncclUniqueId& id, int rank, int size, Limit limit,
                                                std::shared_ptr<NcclJob> job);
  // Every rank of the parent calls it. Null for who is not a member.
  std::unique_ptr<NcclCommunicator> split(bool is_member, int place, Limit limit);
  // Those who are left call it, and have a job anew. NCCL 2.27. `abort` ends the parent's operations in
  // flight first.
  std::unique_ptr<NcclCommunicator> shrink(std::vector<int> lost, bool abort, Limit limit,
                                           std::shared_ptr<NcclJob> job) const;
  // Operations in flight end, and no new one is accepted; what is left can be shrunk. NCCL 2.29.
  void revoke(Limit limit) const;

  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  ncclComm_t get() const { return *handle_; }

  // Until NCCL, which answered `result` to a call on this communicator, is through with it.
  void settle(ncclResult_t result, Patience& patience) const;
  // NCCL's error state; an error is a CollectiveError.
  void look(Patience& patience) const;
  // Ends all that is in flight on the job's communicators, of this rank alone: the others do not
  // hear of it.
  static void abort_all(const NcclJob& job);

 private:
  explicit NcclCommunicator(std::shared_ptr<NcclJob> job);
  std::unique_ptr<NcclCommunicator> child_of(ncclResult_t result, Patience& patience,
                                             std::unique_ptr<NcclCommunicator> child) const;
  void end();
  void abort();

  std::shared_ptr<NcclJob> job_;
  ncclComm_t* handle_;  // written by a thread of NCCL's while it is made
};

}  // namespace trainer
