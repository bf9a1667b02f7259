// Collectives: the few Gloo operations that the trainer uses, with one time limit and one kind of error.
//
// All calls carry the same tag, as plain programs do: a call is known by its place in the sequence.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gloo {
class Context;
}

namespace trainer {

// A collective that did not complete. The communicator cannot be used any more.
struct CollectiveError : std::runtime_error {
  CollectiveError(std::string kind_of_error, const std::string& text)
      : std::runtime_error(text), kind(std::move(kind_of_error)) {}
  std::string kind;  // "timeout", "peer_lost" or "other"
};

class Collectives {
 public:
  // Meets the other ranks at `store`, a directory; blocks until all have come.
  // Without a timeout a call waits for ever.
  Collectives(int rank, int world_size, const std::string& store,
              std::optional<std::chrono::milliseconds> timeout);
  ~Collectives();

  void sum(int64_t* numbers, size_t count);
  void sum(float* numbers, size_t count);
  int64_t max(int64_t number);
  std::vector<uint64_t> all_gather(uint64_t mine);
  void broadcast_from_0(void* bytes, size_t size);
  void barrier();

 private:
  template <typename Call>
  void guarded(const char* operation, Call call);

  int world_size_;
  std::optional<std::chrono::milliseconds> timeout_;
  std::shared_ptr<gloo::Context> context_;
};

}  // namespace trainer
