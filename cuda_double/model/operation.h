// operation.h: one collective, send or receive: its arguments and its progress.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda_double/model/communicator.h"

namespace cuda_double {

struct Operation {
  CommunicatorPtr communicator;
  Signature signature;
  const void* in = nullptr;
  void* out = nullptr;
  int peer = 0;  // of a send or receive
  CustomReduction custom;

  bool is_collective() const { return signature.function < Function::send; }
  bool complete() const { return state_ == State::complete; }

  // Takes the next number in the order of the communicator; called when its kernel is launched.
  void number();
  // Called while its kernel is at the head of its stream. Returns true when the operation is complete.
  bool step();

 private:
  enum class State { waiting, given, complete };
  bool collective_step(Page& page);
  bool send_step(Page& page);
  bool receive_step(Page& page);
  void give(Page& page) const;
  void take(Page& page) const;
  void take_reduced(Page& page, std::size_t at) const;
  std::size_t message_bytes() const;

  std::uint64_t number_ = 0;
  State state_ = State::waiting;
  bool runs_ = false;
};

}  // namespace cuda_double
