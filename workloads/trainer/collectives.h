// Collectives: the few operations that the trainer uses, with one time limit and one kind of error,
// whatever library carries them. Each program links one back end: gloo_collectives.cc, mpi_collectives.cc or
// nccl_collectives.cc.
//
// All calls on one communicator carry the same tag, as plain programs do: a call is known by its place in the
// sequence.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace trainer {

// A collective that did not complete. The communicator cannot be used any more.
struct CollectiveError : std::runtime_error {
  CollectiveError(std::string kind_of_error, const std::string& text)
      : std::runtime_error(text), kind(std::move(kind_of_error)) {}
  std::string kind;  // "timeout", "peer_lost" or "other"; "excluded" when meeting again
};

// Without a value a call waits for ever.
using Limit = std::optional<std::chrono::milliseconds>;

// What the program is about while it makes a call: peers may come later in one phase than in another.
// kCheckpoint: rank 0 may still write one; it ends with the first call that has returned.
enum class Phase { kTrain, kEvaluation, kCheckpoint };

// What a back end needs to meet the other ranks.
struct Meeting {
  int rank = 0;
  int world_size = 1;
  std::string store;           // a directory; not used where the launcher brings the ranks together
  Limit limit;                 // of each collective
  Limit to_meet{};             // of waiting for one of the others; the library's own when none
  bool tell_failures = false;  // in the store, where the library lets nobody know (NCCL)
  bool end_by_abort = false;   // a communicator in good order, too (NCCL)
};

// What ends the operations in flight of a communicator that is to shrink.
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
  // `count` numbers of each rank, one rank after the other.
  virtual std::vector<float> gather(const float*, size_t) {
    throw CollectiveError("other", "this kind of communicator gathers no numbers");
  }
  virtual void broadcast(void* bytes, size_t size, int root) = 0;
  virtual void barrier() = 0;

  // A communicator of these ranks of the world, in this order. All ranks of the world call it, in the same
  // order; who is not of the group gets none.
  virtual std::unique_ptr<Collectives> group(const std::string& name, const std::vector<int>& ranks) = 0;

  // After a CollectiveError, in place of meeting again: the same ranks without `lost`, on which those who are
  // left have agreed. `meeting` is theirs.
  virtual std::unique_ptr<Collectives> without(const std::vector<int>& lost, Shrinking how,
                                               const Meeting& meeting) {
    (void)lost, (void)how, (void)meeting;
    throw CollectiveError("other", "this library shrinks no communicator");
  }

  // From the next call on.
  virtual void set_limit(Limit limit) = 0;

  // Which phase the next calls belong to; taken note of by limits that depend on it.
  virtual void begin_phase(Phase) {}

  // From any thread: the call in progress fails within moments, and the communicator cannot be used any more.
  virtual void interrupt() {}

  // The way out after a CollectiveError: frees the peers as far as the library can. May end the process.
  virtual void leave(int exit_code) = 0;
};

// The world. Blocks until all ranks have come; throws CollectiveError.
std::unique_ptr<Collectives> meet(const Meeting& meeting);

// Who this process is, where the launcher tells it and not RANK and WORLD_SIZE.
bool launcher_tells_rank();

}  // namespace trainer
