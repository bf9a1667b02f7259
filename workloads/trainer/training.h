// training: the loop of data-parallel SGD on ranks that have met, from the resume to the end.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/exit_code.h"
#include "workloads/trainer/options.h"

namespace trainer {

// Holds communicators made from `collectives`, so it must live until a CollectiveError that run() threw has
// been handled: to free them earlier would be one more call that the peers do not make.
class Training {
 public:
  // `options` name the rank and the world that `collectives` has. Throws CollectiveError, as run() does.
  Training(const Options& options, Collectives& collectives);
  ~Training();
  int run();             // returns an ExitCode
  int64_t step() const;  // the current step

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

// Reports a failed collective; returns its ExitCode.
int collective_failed(const Options& options, const CollectiveError& error, int64_t step);

}  // namespace trainer
