// recorded_call.h: one recorded library call as a scope. It writes the enter record when it opens and the
// exit record when it closes, also on an exception or when the thread unwinds.
#ifndef RANKFAULT_BACKENDS_GLOO_RECORDED_CALL_H
#define RANKFAULT_BACKENDS_GLOO_RECORDED_CALL_H

#include "harness/agent/core.h"

namespace rankfault::gloo_decoder {

// The core's table, set by attach() before any wrapper runs.
extern const rf_core_v1* core;

inline rf_call make_call(rf_library library, rf_op op, const void* where) {
  rf_call call{};
  call.op = op;
  call.library = library;
  call.comm = RF_NO_COMM;
  call.peer = RF_PEER_NONE;
  call.recv_peer = RF_PEER_NONE;
  call.where = where;
  return call;
}

class RecordedCall {
 public:
  explicit RecordedCall(rf_call& call) : call_(call), verdict_(core->begin(&call)) {}
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;
  ~RecordedCall() {
    if (enqueued_) return;
    core->end(&call_, returned_ ? 0 : RF_RESULT_THROWN);
  }

  rf_verdict verdict() const { return verdict_; }
  bool outermost() const { return call_.outermost != 0; }
  void returned() { returned_ = true; }
  // The call returned and its work is pending.
  void enqueued() {
    enqueued_ = true;
    core->end_enqueued(&call_, 0);
  }

 private:
  rf_call& call_;
  const rf_verdict verdict_;
  bool returned_ = false;
  bool enqueued_ = false;
};

// Changes an argument in an object of another owner for one call.
template <typename T>
class ChangedArgument {
 public:
  ~ChangedArgument() {
    if (slot_) *slot_ = old_;
  }
  void change(T& slot, T value) {
    slot_ = &slot;
    old_ = slot;
    slot = value;
  }

 private:
  T* slot_ = nullptr;
  T old_{};
};

inline rf_dtype dtype_of_size(uint64_t element_size) {
  switch (element_size) {
    case 1:
      return RF_DTYPE_BYTE;
    case 2:
      return RF_DTYPE_BYTES2;
    case 4:
      return RF_DTYPE_BYTES4;
    case 8:
      return RF_DTYPE_BYTES8;
    case 16:
      return RF_DTYPE_BYTES16;
    default:
      return RF_DTYPE_OTHER;
  }
}

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_RECORDED_CALL_H
