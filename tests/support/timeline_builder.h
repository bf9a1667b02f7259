// TimelineBuilder: makes Timelines from statements of what each rank did, with the records and states that
// the agent would have written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault::testing {

struct CallSpec {
  uint16_t op = RF_OP_ALL_REDUCE;
  uint64_t count = 1024;
  uint8_t dtype = RF_DTYPE_FLOAT32;
  uint8_t reduce_op = RF_REDUCE_SUM;
  int peer = RF_PEER_NONE;  // root
  uint64_t site = 0x1000;   // return address
  std::string comm = "world";
  uint32_t lane = 0;
  uint16_t flags = 0;
  uint64_t needs_mask = 0;
  int tag = 0;
  int recv_peer = RF_PEER_NONE, recv_tag = 0;  // of a sendrecv
};

inline CallSpec all_reduce(uint64_t count = 1024, uint64_t site = 0x1000) {
  return {RF_OP_ALL_REDUCE, count, RF_DTYPE_FLOAT32, RF_REDUCE_SUM, RF_PEER_NONE, site, "world", 0, 0, 0};
}
inline CallSpec barrier(uint64_t site = 0x2000) {
  return {RF_OP_BARRIER, 0, RF_DTYPE_BYTE, RF_REDUCE_OTHER, RF_PEER_NONE, site, "world", 0, 0, 0};
}
inline CallSpec broadcast(int root, uint64_t count = 16, uint64_t site = 0x3000) {
  return {RF_OP_BROADCAST, count, RF_DTYPE_FLOAT32, RF_REDUCE_OTHER, root, site, "world", 0, 0, 0};
}
inline CallSpec message(uint16_t op, int peer, int tag = 0) {
  CallSpec spec{op, 4, RF_DTYPE_INT32, RF_REDUCE_OTHER, peer, 0x4000, "world", 0, 0, 0, tag};
  if (peer == RF_PEER_ANY) spec.flags |= RF_CALL_ANY_SOURCE;
  if (tag == -1) spec.flags |= RF_CALL_ANY_TAG;
  return spec;
}
inline CallSpec send(int to, int tag = 0) { return message(RF_OP_SEND, to, tag); }
inline CallSpec ssend(int to, int tag = 0) { return message(RF_OP_SSEND, to, tag); }
inline CallSpec recv(int from, int tag = 0) { return message(RF_OP_RECV, from, tag); }
inline CallSpec probe(int from, int tag = 0) { return message(RF_OP_PROBE, from, tag); }
inline CallSpec sendrecv(int to, int from, int tag = 0) {
  CallSpec spec = message(RF_OP_SENDRECV, to, tag);
  spec.recv_peer = from;
  spec.recv_tag = tag;
  return spec;
}
inline CallSpec on(CallSpec spec, std::string comm) {
  spec.comm = std::move(comm);
  return spec;
}

class TimelineBuilder {
 public:
  explicit TimelineBuilder(int ranks, rf_library library = RF_LIB_GLOO);

  // Makes a communicator of these world ranks. "world" always exists.
  TimelineBuilder& comm(const std::string& name, std::vector<int> ranks);
  TimelineBuilder& everyone(const CallSpec&, int times = 1);  // all members of its communicator
  TimelineBuilder& does(int rank, const CallSpec&, int times = 1);
  TimelineBuilder& blocked(int rank, const CallSpec&);                    // enters and stays
  TimelineBuilder& returns(int rank, uint32_t lane = 0, int result = 0);  // from its blocked call
  TimelineBuilder& fails(int rank, const CallSpec&, int result = RF_RESULT_THROWN);
  TimelineBuilder& enqueues(int rank, const CallSpec&);  // nonblocking, not complete
  uint64_t last_origin(int rank, uint32_t lane = 0);     // of the rank's newest call
  TimelineBuilder& completes(int rank, uint64_t origin, const std::string& comm = "world", uint64_t seq = 0);
  TimelineBuilder& waits(int rank, const std::vector<uint64_t>& origins, uint16_t op = RF_OP_WAIT);
  // Waits in that function of CUDA for operations that were enqueued before.
  TimelineBuilder& host_waits(int rank, const std::vector<uint64_t>& origins,
                              rf_host_wait in = RF_HOST_WAIT_STREAM);
  TimelineBuilder& step(int rank, uint64_t number);  // a step_begin mark
  TimelineBuilder& steps(uint64_t number);           // on every rank
  TimelineBuilder& loses(int rank, size_t records);  // its oldest records, as a ring does
  TimelineBuilder& killed(int rank, int signal = 9);
  TimelineBuilder& exits(int rank, int code = 0);
  TimelineBuilder& vanishes(int rank);  // died, status unknown
  TimelineBuilder& finalized(int rank);
  TimelineBuilder& destroys(int rank, const std::string& comm = "world");
  TimelineBuilder& wait(Duration time) {  // nothing happens meanwhile
    now_ += time;
    return *this;
  }
  Instant now() const { return now_; }

  ProcessView& rank(int rank) { return processes_[static_cast<size_t>(rank)]; }
  CommView& comm_of(int rank, const std::string& comm = "world");
  LaneView& lane_of(int rank, uint32_t lane = 0);
  Timeline build() const;

 private:
  Event& record(int rank, uint32_t lane, uint8_t phase);
  void add(int rank, uint32_t lane, const rf_record&);
  uint32_t enter(int rank, const CallSpec&);  // returns the call's number
  void leave(int rank, const CallSpec&, uint8_t phase, int result);
  void end(int rank, bool known, bool by_signal, int value);

  rf_library library_;
  Instant now_{1s};
  std::vector<ProcessView> processes_;
  std::map<std::string, std::vector<int>> comms_;
};

}  // namespace rankfault::testing
