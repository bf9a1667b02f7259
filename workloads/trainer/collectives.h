// Collectives: the operations that the trainer uses, over any library, with one time limit and one type of
// error. Each program links one back end: gloo_collectives.cc, mpi_collectives.cc or nccl_collectives.cc.
//
// All calls on one communicator have the same tag, as in ordinary programs: only its sequence number
// identifies a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace trainer {

// A collective that did not complete. Its communicator cannot be used afterwards.
struct CollectiveError : std::runtime_error {
  CollectiveError(std::string kind_of_error, const std::string& text)
      : std::runtime_error(text), kind(std::move(kind_of_error)) {}
  std::string kind;  // "timeout", "peer_lost" or "other"; "excluded" when meeting again
};

// Without a value a call waits for ever.
using Limit = std::optional<std::chrono::milliseconds>;

// What the program does while it makes a call: peers may join a call later in one phase than in another.
// kCheckpoint: rank 0 may still write a checkpoint; the phase ends with the first call that succeeds.
enum class Phase { kTrain, kEvaluation, kCheckpoint };

// What a back end needs to meet the other ranks.
struct Meeting {
  int rank = 0;
  int world_size = 1;
  std::string store;           // a directory; unused if the launcher connects the ranks
  Limit limit;                 // of each collective
  Limit to_meet{};             // of the wait for another rank; none: the library's own limit
  bool tell_failures = false;  // report failures in the store (NCCL does not report them to peers)
  bool end_by_abort = false;   // NCCL: also end intact communicators by an abort
};

// How the operations in flight end before a communicator shrinks.
enum class Shrinking { kAbort, kRevoke };

class Collectives {
 public:
  virtual ~Collectives() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual void sum(int64_t* numbers, size_t count) = 0;
  virtual void sum(float* numbers, size_t count) = 0;
  virtual int64_t max(int64_t number) = 0;
  virtual std::vector<uint64_t> all_gather(uint64_t mine) = 0;
  // Gathers `count` numbers of each rank, in the order of the ranks.
  virtual std::vector<float> gather(const float*, size_t) {
    throw CollectiveError("other", "this kind of communicator gathers no numbers");
  }
  virtual void broadcast(void* bytes, size_t size, int root) = 0;
  virtual void barrier() = 0;

  // Makes a communicator of these ranks of the world, in this order. All ranks of the world make these calls
  // in the same order. A rank that is not in the group gets null.
  virtual std::unique_ptr<Collectives> group(const std::string& name, const std::vector<int>& ranks) = 0;

  // Instead of a new meeting after a CollectiveError: a communicator of the same ranks without `lost`, on
  // which the remaining ranks have agreed. `meeting` describes the remaining ranks.
  virtual std::unique_ptr<Collectives> without(const std::vector<int>& lost, Shrinking how,
                                               const Meeting& meeting) {
    (void)lost, (void)how, (void)meeting;
    throw CollectiveError("other", "this library shrinks no communicator");
  }

  // Applies from the next call on.
  virtual void set_limit(Limit limit) = 0;

  // Sets the phase of the next calls, for limits that depend on it.
  virtual void begin_phase(Phase) {}

  // Makes the call in progress fail soon; any thread may call this. The communicator cannot be used
  // afterwards.
  virtual void interrupt() {}

  // Leaves the job after a CollectiveError, and frees the peers as far as the library can. May end the
  // process.
  virtual void leave(int exit_code) = 0;
};

// Makes the world's communicator. Blocks until all ranks have joined. Throws CollectiveError.
std::unique_ptr<Collectives> meet(const Meeting& meeting);

// True if the process gets its rank and the world size from its launcher, not from RANK and WORLD_SIZE.
bool launcher_tells_rank();

}  // namespace trainer
