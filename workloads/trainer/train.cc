// train: the ranks meet, train, and meet again when a collective has failed.
#include "workloads/trainer/train.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "harness/mark/mark.h"
#include "workloads/trainer/limited_collectives.h"
#include "workloads/trainer/meet_again.h"
#include "workloads/trainer/step_parts.h"
#include "workloads/trainer/stop_request.h"
#include "workloads/trainer/training.h"

namespace trainer {

namespace {

// Mistakes in the options that depend on the world size.
std::string misfit(const Options& options) {
  const int product = options.grid[0] * options.grid[1] * options.grid[2];
  if (product != 0 && product != options.world_size)
    return "--grid has " + std::to_string(product) + " places for " + std::to_string(options.world_size) +
           " ranks";
  if (options.recover_by != RecoverBy::kMeeting && (product != 0 || options.node_size != 0))
    return "--recover-by: only a flat world shrinks, not one with --grid or --node-size";
  return step_misfit(options);
}

bool fits(const Options& options) {
  const std::string mistake = misfit(options);
  if (!mistake.empty()) std::fprintf(stderr, "trainer: %s\n", mistake.c_str());
  return mistake.empty();
}

// The members of the current generation, by the ranks that they were started with.
struct Membership {
  int id = 0, generation = 0;
  std::vector<int> members;
  std::unique_ptr<Collectives> broken;  // that of the previous generation, if the next one is made from it
};

// The places in `before` of the members that are lost: their ranks in that generation.
std::vector<int> places_of_lost(const std::vector<int>& before, const std::vector<int>& members) {
  std::vector<int> places;
  for (size_t place = 0; place < before.size(); ++place)
    if (std::find(members.begin(), members.end(), before[place]) == members.end())
      places.push_back(static_cast<int>(place));
  return places;
}

// All started ranks take part in the first meeting, and only the remaining ranks in a later one.
std::unique_ptr<Collectives> meet_as(Membership& self, const Options& options) {
  if (self.generation == 0)
    return meet({options.rank, options.world_size, options.store, options.collective_timeout,
                 options.join_timeout, options.tell_failures, options.end_by_abort});
  rankfault_phase("meet_again");
  const auto came = [&] { rankfault_mark("meet_again", self.generation); };
  std::unique_ptr<Collectives> broken = std::move(self.broken);
  const std::vector<int> before = std::exchange(
      self.members,
      agree_on_members({options.store, self.generation, self.id, self.members, options.meet_again, came}));
  const auto me = std::find(self.members.begin(), self.members.end(), self.id);
  const Meeting meeting{static_cast<int>(me - self.members.begin()),
                        static_cast<int>(self.members.size()),
                        directory_of(options.store, self.generation) + "/store",
                        options.collective_timeout,
                        options.join_timeout.value_or(options.meet_again),
                        options.tell_failures,
                        options.end_by_abort};
  const std::vector<int> lost = places_of_lost(before, self.members);
  if (broken && !lost.empty())
    return broken->without(
        lost, options.recover_by == RecoverBy::kRevoke ? Shrinking::kRevoke : Shrinking::kAbort, meeting);
  broken.reset();
  return meet(meeting);
}

// Runs one generation, from its meeting to its end. After a CollectiveError, another generation may follow.
int train_once(Membership& self, Options options, std::optional<CollectiveError>* failed) {
  std::unique_ptr<Collectives> collectives;
  std::optional<Training> training;
  try {
    collectives = meet_as(self, options);
    options.rank = collectives->rank();
    options.world_size = collectives->size();
    collectives = with_limits(std::move(collectives), limits_of(options.step, options.collective_timeout),
                              keeper_of(options.step.limits_by, options.rank));
    if (self.generation > 0)
      std::fprintf(stderr, "trainer: rank %d of %d in generation %d was started as rank %d\n", options.rank,
                   options.world_size, self.generation, self.id);
    return fits(options) ? training.emplace(options, *collectives).run() : kExitUsage;
  } catch (const CollectiveError& error) {
    const int code = collective_failed(options, error, training ? training->step() : 0);
    *failed = error;
    if (collectives && self.generation >= options.recoveries)
      collectives->leave(code);
    else if (options.recover_by != RecoverBy::kMeeting)
      self.broken = std::move(collectives);
    return code;
  }
}

}  // namespace

int train(const Options& options) {
  // Checks before the ranks meet, if that is possible: a rank that left later would be a lost peer for a rank
  // that still connects.
  if (!launcher_tells_rank() && !fits(options)) return kExitUsage;
  if (options.stop_on_sigterm) take_stop_requests(options.sigterm_once);
  Membership self{options.rank, 0, std::vector<int>(static_cast<size_t>(options.world_size)), nullptr};
  std::iota(self.members.begin(), self.members.end(), 0);
  for (;; ++self.generation) {
    std::optional<CollectiveError> failed;
    const int code = train_once(self, options, &failed);
    if (!failed) return code;
    if (failed->kind == "excluded") return kExitExcluded;
    if (self.generation >= options.recoveries) return code;
  }
}

}  // namespace trainer
