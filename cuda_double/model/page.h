// page.h: the shared state of a communicator's ranks: a page of counters, and files with each rank's data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cuda_double {

enum class Function : std::uint32_t {
  all_reduce = 1,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
};

// The arguments that must be equal on every rank of a collective.
struct Signature {
  Function function = Function::all_reduce;
  std::uint32_t type = 0, reduction = 0;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  bool operator==(const Signature&) const = default;
};

// Maps `bytes` of a file, and makes the file if it is absent. All processes share the memory. Ends the
// process on failure.
void* map_file(const std::string& path, std::size_t bytes);

// The page of one communicator of `ranks` ranks.
// When a rank has reached its k-th collective at the head of its stream, its `arrived` is k + 1, and its data
// is in its slot k mod 2. Two slots are enough: no rank reaches k + 2 before all have reached k + 1, and so
// have read k.
class Page {
 public:
  Page(const std::string& folder, std::uint64_t key, int ranks);
  ~Page();
  Page(const Page&) = delete;

  int ranks() const { return ranks_; }
  void arrive(int rank, std::uint64_t k, const Signature& signature);
  bool arrived(int rank, std::uint64_t k) const;
  // False when `rank` gave another signature for its k-th collective. True also when that is not the last one
  // that it reached, because its signature is then not known.
  bool agrees(int rank, std::uint64_t k, const Signature& signature) const;

  std::atomic<std::uint64_t>& sent(int from, int to) { return pair(0, from, to); }
  std::atomic<std::uint64_t>& received(int from, int to) { return pair(1, from, to); }
  std::atomic<std::uint64_t>& sent_bytes(int from, int to) { return pair(2, from, to); }

  // The file of a rank's slot, or of messages from one rank to another; opened once.
  int slot(int rank, std::uint64_t k) { return file(rank * 2 + static_cast<int>(k & 1)); }
  int messages(int from, int to) { return file((2 + from) * ranks_ + to); }

 private:
  struct Rank {
    std::atomic<std::uint64_t> arrived;
    Signature last[2];
  };
  Rank& rank_at(int rank) const { return static_cast<Rank*>(memory_)[rank]; }
  std::atomic<std::uint64_t>& pair(int which, int from, int to);
  int file(int index);

  const std::string name_;
  const int ranks_;
  std::size_t bytes_;
  void* memory_;
  std::unique_ptr<std::atomic<int>[]> files_;  // 0: not opened
};

// Whole reads and writes; they end the process when the folder is full or gone.
void write_whole(int fd, const void* from, std::size_t bytes, std::size_t at);
void read_whole(int fd, void* into, std::size_t bytes, std::size_t at);

}  // namespace cuda_double
