// limited_collectives: numbers each call, sets its limit, and has the keeper watch it.
#include "workloads/trainer/limited_collectives.h"

namespace trainer {

namespace {

// State that the world and all groups made from it share.
struct Common {
  LimitPolicy policy;
  Phase phase = Phase::kTrain;
  std::shared_ptr<LimitKeeper> keeper;
};

class LimitedCollectives : public Collectives {
 public:
  LimitedCollectives(std::unique_ptr<Collectives> inner, std::shared_ptr<Common> common)
      : inner_(std::move(inner)), common_(std::move(common)) {
    inner_->set_limit(library_limit_);
  }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

  void sum(int64_t* numbers, size_t count) override {
    limited("all_reduce", count, [&] { inner_->sum(numbers, count); });
  }
  void sum(float* numbers, size_t count) override {
    limited("all_reduce", count, [&] { inner_->sum(numbers, count); });
  }
  int64_t max(int64_t number) override {
    limited("all_reduce", 1, [&] { number = inner_->max(number); });
    return number;
  }
  std::vector<uint64_t> all_gather(uint64_t mine) override {
    std::vector<uint64_t> all;
    limited("all_gather", 1, [&] { all = inner_->all_gather(mine); });
    return all;
  }
  std::vector<float> gather(const float* mine, size_t count) override {
    std::vector<float> all;
    limited("all_gather", count, [&] { all = inner_->gather(mine, count); });
    return all;
  }
  void broadcast(void* bytes, size_t size, int root) override {
    limited("broadcast", size, [&] { inner_->broadcast(bytes, size, root); });
  }
  void barrier() override {
    limited("barrier", 0, [&] { inner_->barrier(); });
  }

  std::unique_ptr<Collectives> group(const std::string& name, const std::vector<int>& ranks) override {
    auto part = inner_->group(name, ranks);
    if (!part) return nullptr;
    return std::make_unique<LimitedCollectives>(std::move(part), common_);
  }

  std::unique_ptr<Collectives> without(const std::vector<int>& lost, Shrinking how,
                                       const Meeting& meeting) override {
    return inner_->without(lost, how, meeting);
  }

  // Replaces the policy by one limit for every call.
  void set_limit(Limit limit) override {
    common_->policy = {};
    common_->policy.train = limit;
  }
  void begin_phase(Phase phase) override { common_->phase = phase; }
  void interrupt() override { inner_->interrupt(); }
  void leave(int exit_code) override { inner_->leave(exit_code); }

 private:
  template <typename Call>
  void limited(const char* op, size_t numel, Call call) {
    CallInFlight flight;
    flight.op = op;
    flight.seq = ++seq_;
    flight.numel = numel;
    flight.limit = common_->policy.of(common_->phase, op, numel);
    if (!common_->keeper) give_library(flight.limit);
    if (common_->keeper) common_->keeper->begin(flight, [this] { inner_->interrupt(); });
    std::optional<CollectiveError> failed;
    try {
      call();
    } catch (const CollectiveError& error) {
      failed = error;
    }
    const bool too_late = common_->keeper && common_->keeper->end();
    if (too_late || failed)
      throw CollectiveError(too_late ? "timeout" : failed->kind,
                            (failed ? std::string(failed->what()) + ": " : "") + flight.told());
    if (common_->phase == Phase::kCheckpoint) common_->phase = Phase::kTrain;
  }

  void give_library(Limit limit) {
    if (limit == library_limit_) return;
    library_limit_ = limit;
    inner_->set_limit(limit);
  }

  std::unique_ptr<Collectives> inner_;
  std::shared_ptr<Common> common_;
  uint64_t seq_ = 0;
  Limit library_limit_;  // none if a keeper enforces the limits
};

}  // namespace

std::unique_ptr<Collectives> with_limits(std::unique_ptr<Collectives> inner, const LimitPolicy& policy,
                                         std::shared_ptr<LimitKeeper> keeper) {
  return std::make_unique<LimitedCollectives>(
      std::move(inner), std::make_shared<Common>(Common{policy, Phase::kTrain, std::move(keeper)}));
}

std::shared_ptr<LimitKeeper> keeper_of(LimitsBy who, int rank) {
  switch (who) {
    case LimitsBy::kLibrary:
      return nullptr;
    case LimitsBy::kWatchdog:
      return watchdog(rank);
    case LimitsBy::kAlarm:
      return alarm_limit();
    case LimitsBy::kAsyncError:
      return async_error_alone();
  }
  return nullptr;
}

}  // namespace trainer
