// async_error_alone: a watchdog that only polls the error state of its communicator, and so has no limit.
#include "workloads/trainer/limit_keeper.h"

namespace trainer {

namespace {

class AsyncErrorAlone : public LimitKeeper {
 public:
  void begin(const CallInFlight&, std::function<void()>) override {}
  bool end() override { return false; }
};

}  // namespace

std::unique_ptr<LimitKeeper> async_error_alone() { return std::make_unique<AsyncErrorAlone>(); }

}  // namespace trainer
