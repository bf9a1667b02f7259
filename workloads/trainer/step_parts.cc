// StepParts: when each part runs, and what it reports.
#include "workloads/trainer/step_parts.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "harness/mark/mark.h"
#include "workloads/trainer/collectives.h"
#include "workloads/trainer/sequence_check.h"

namespace trainer {

StepParts::StepParts(const Options& options, Collectives& collectives)
    : options_(options),
      collectives_(collectives),
      share_(equal_share(options.batch, options.rank, options.world_size)) {
  const StepOptions& step = options.step;
  if (step.heartbeat) heartbeat_.emplace(options.rank, *step.heartbeat);
  if (step.meet_every > 0 && step.meet_by != MeetBy::kPlain)
    barrier_.emplace(options.store + "/meetings", options.rank, options.world_size);
}

bool StepParts::meet() {
  if (options_.step.meet_by != MeetBy::kPlain) return wait_at_barrier();
  collectives_.barrier();
  return true;
}

// A rank that cannot use the common directory has not met the others.
bool StepParts::wait_at_barrier() {
  try {
    return options_.step.meet_by == MeetBy::kSafe ? barrier_->wait(options_.step.meet_limit)
                                                  : barrier_->wait_and_believe(options_.step.meet_limit);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "trainer: rank %d: %s\n", options_.rank, error.what());
    return false;
  }
}

// Adds the answer to the history, which must be the same on all ranks.
void StepParts::meet_now_and_then(int64_t step, SequenceCheck& check) {
  if (options_.step.meet_every == 0 || step % options_.step.meet_every != 0) return;
  rankfault_mark("meeting", step);
  const bool met = meet();
  check.note("meeting", 0, step, &met, sizeof met);
  if (met) return;
  rankfault_mark("not_met", step);
  std::fprintf(stderr, "trainer: rank %d: step %lld: some ranks did not join the meeting\n", options_.rank,
               static_cast<long long>(step));
}

void StepParts::compute() const {
  if (options_.rank != options_.step.compute_rank) return;
  const auto used = [] {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  for (const auto until = used() + options_.step.compute_time; used() < until;) {
  }
}

void StepParts::deal_now_and_then(int64_t step, const std::function<void()>& one_sample) {
  if (!options_.step.deal_by_speed) return;
  if (dealt_ && (step - 1) % options_.step.deal_every != 0) return;
  dealt_ = true;
  const auto begun = std::chrono::steady_clock::now();
  one_sample();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begun;
  const auto times = collectives_.all_gather(static_cast<uint64_t>(took.count()));
  share_ = share_of(shares_by_speed(options_.batch, times), options_.rank);
  const Straggler straggler = slowest(times);
  if (options_.rank == 0)
    std::printf("step %lld: rank %d takes %.1f times as long for a sample as the fastest\n",
                static_cast<long long>(step), straggler.rank, straggler.ratio);
}

std::string step_misfit(const Options& options) {
  const StepOptions& step = options.step;
  if (step.meet_every > 0 && step.meet_by != MeetBy::kPlain && options.store.empty())
    return "--meet-every needs --store";
  const LimitPolicy limits = limits_of(step, options.collective_timeout);
  Limit longest = limits.longest();
  if (const Limit late = limits.of(Phase::kCheckpoint, "all_reduce", 0);
      longest && late && !options.checkpoint_dir.empty())
    longest = std::max(*longest, *late);
  if (step.heartbeat && longest && *step.heartbeat <= *longest)
    return "--heartbeat must be longer than any limit of a collective: it would abort ranks that may still "
           "wait";
  if (!step.deal_by_speed) return "";
  if (options.samples > 0) return "--deal=by-speed and --samples do not go together";
  if (options.batch < options.world_size) return "--deal=by-speed needs a sample for each rank";
  return "";
}

}  // namespace trainer
