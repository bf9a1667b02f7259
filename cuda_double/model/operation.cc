#include "cuda_double/model/operation.h"

#include <algorithm>
#include <cstring>

#include "cuda_double/core/settings.h"
#include "cuda_double/model/bell.h"

namespace cuda_double {
namespace {

constexpr std::size_t kChunk = 1 << 16;

// The number of elements that a rank gives to a collective.
std::size_t given_count(const Signature& s, int rank, int ranks) {
  bool root = rank == static_cast<int>(s.root);
  switch (s.function) {
    case Function::broadcast:
      return root ? s.count : 0;
    case Function::scatter:
      return root ? s.count * static_cast<std::size_t>(ranks) : 0;
    case Function::reduce_scatter:
    case Function::all_to_all:
      return s.count * static_cast<std::size_t>(ranks);
    default:
      return s.count;
  }
}

bool is_reduction(Function f) {
  return f == Function::all_reduce || f == Function::reduce || f == Function::reduce_scatter;
}

}  // namespace

void Operation::number() {
  Communicator& c = *communicator;
  ++c.behind;
  std::lock_guard<std::mutex> lock(c.mutex);
  if (is_collective()) number_ = c.next++;
  if (signature.function == Function::send) number_ = c.next_send[peer]++;
  if (signature.function == Function::receive) number_ = c.next_receive[peer]++;
}

bool Operation::step() {
  if (state_ == State::complete) return true;
  Communicator& c = *communicator;
  Kernels kernels = settings().kernels;
  if (kernels == Kernels::never) return false;
  bool done = kernels == Kernels::at_once || c.aborted;
  if (!done && kernels == Kernels::joined) {
    Page& page = *c.page;
    done = is_collective()                        ? collective_step(page)
           : signature.function == Function::send ? send_step(page)
                                                  : receive_step(page);
  }
  if (!runs_ && (done || !is_collective() || state_ == State::given)) {
    runs_ = true;
    --c.behind;
  }
  if (!done) return false;
  state_ = State::complete;
  if (is_collective()) {
    std::lock_guard<std::mutex> lock(c.mutex);
    c.complete = std::max(c.complete, number_ + 1);
  }
  return true;
}

bool Operation::collective_step(Page& page) {
  Communicator& c = *communicator;
  if (state_ == State::waiting) {
    {
      std::lock_guard<std::mutex> lock(c.mutex);
      if (c.complete != number_) return false;  // an earlier collective is pending on another stream
    }
    give(page);
    page.arrive(c.rank, number_, signature);
    state_ = State::given;
    ring_bell();
  }
  for (int rank = 0; rank < c.ranks; ++rank) {
    if (!page.arrived(rank, number_)) return false;
  }
  for (int rank = 0; rank < c.ranks; ++rank) {
    if (!page.agrees(rank, number_, signature)) {
      say_once("rank " + std::to_string(c.rank) + " and rank " + std::to_string(rank) +
               " differ in collective " + std::to_string(number_) +
               " of a communicator: the collective stays pending");
      return false;
    }
  }
  take(page);
  return true;
}

void Operation::give(Page& page) const {
  const Communicator& c = *communicator;
  Type type = static_cast<Type>(signature.type);
  std::size_t count = given_count(signature, c.rank, c.ranks), width = bytes_of(type);
  int fd = page.slot(c.rank, number_);
  Reduction reduction = static_cast<Reduction>(signature.reduction);
  if (!is_reduction(signature.function) ||
      (reduction != Reduction::average && reduction != Reduction::scaled_sum)) {
    write_whole(fd, in, count * width, 0);
    return;
  }
  const void* factor = custom.at_execution ? custom.at_execution : custom.factor.data();
  std::vector<char> scaled(kChunk);
  for (std::size_t at = 0; at < count * width; at += kChunk) {
    std::size_t bytes = std::min(kChunk, count * width - at);
    std::memcpy(scaled.data(), static_cast<const char*>(in) + at, bytes);
    prepare(scaled.data(), bytes / width, type, reduction, factor, c.ranks);
    write_whole(fd, scaled.data(), bytes, at);
  }
}

void Operation::take(Page& page) const {
  const Communicator& c = *communicator;
  std::size_t bytes = signature.count * bytes_of(static_cast<Type>(signature.type));
  std::size_t mine = static_cast<std::size_t>(c.rank) * bytes;
  int root = static_cast<int>(signature.root);
  switch (signature.function) {
    case Function::all_reduce:
      return take_reduced(page, 0);
    case Function::reduce:
      return c.rank == root ? take_reduced(page, 0) : void();
    case Function::reduce_scatter:
      return take_reduced(page, mine);
    case Function::broadcast:
      return read_whole(page.slot(root, number_), out, bytes, 0);
    case Function::scatter:
      return read_whole(page.slot(root, number_), out, bytes, mine);
    case Function::gather:
      if (c.rank != root) return;
      [[fallthrough]];
    default:  // all_gather, all_to_all
      for (int rank = 0; rank < c.ranks; ++rank) {
        std::size_t at = signature.function == Function::all_to_all ? mine : 0;
        read_whole(page.slot(rank, number_), static_cast<char*>(out) + static_cast<std::size_t>(rank) * bytes,
                   bytes, at);
      }
  }
}

// Reduces in the order of the ranks, so that every rank gets the same bits.
void Operation::take_reduced(Page& page, std::size_t from) const {
  const Communicator& c = *communicator;
  Type type = static_cast<Type>(signature.type);
  Reduction reduction = static_cast<Reduction>(signature.reduction);
  std::size_t width = bytes_of(type), total = signature.count * width;
  std::vector<char> next(kChunk);
  for (std::size_t at = 0; at < total; at += kChunk) {
    std::size_t bytes = std::min(kChunk, total - at);
    char* into = static_cast<char*>(out) + at;
    read_whole(page.slot(0, number_), into, bytes, from + at);
    for (int rank = 1; rank < c.ranks; ++rank) {
      read_whole(page.slot(rank, number_), next.data(), bytes, from + at);
      reduce_into(into, next.data(), bytes / width, type, reduction);
    }
    finish(into, bytes / width, type, reduction, c.ranks);
  }
}

std::size_t Operation::message_bytes() const {
  return signature.count * bytes_of(static_cast<Type>(signature.type));
}

bool Operation::send_step(Page& page) {
  int rank = communicator->rank;
  auto& sent = page.sent(rank, peer);
  auto& received = page.received(rank, peer);
  if (state_ == State::waiting) {
    if (sent != number_ || received != number_) return false;  // one message at a time, in order
    write_whole(page.messages(rank, peer), in, message_bytes(), 0);
    page.sent_bytes(rank, peer) = message_bytes();
    sent = number_ + 1;
    state_ = State::given;
    ring_bell();
  }
  return received > number_;
}

bool Operation::receive_step(Page& page) {
  int rank = communicator->rank;
  auto& received = page.received(peer, rank);
  if (received != number_ || page.sent(peer, rank) <= number_) return false;
  if (page.sent_bytes(peer, rank) != message_bytes()) {
    say_once("rank " + std::to_string(rank) + " expects another size than rank " + std::to_string(peer) +
             " sends: the message stays pending");
    return false;
  }
  read_whole(page.messages(peer, rank), out, message_bytes(), 0);
  received = number_ + 1;
  ring_bell();
  return true;
}

}  // namespace cuda_double
