// train: one step is: batch, gradients, all-reduce, agree, update, commit, checkpoint.
#include "scenarios/trainer/train.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "harness/mark/mark.h"
#include "scenarios/trainer/checkpoint.h"
#include "scenarios/trainer/chunked_sum.h"
#include "scenarios/trainer/collectives.h"
#include "scenarios/trainer/dataset.h"
#include "scenarios/trainer/end_of_data.h"
#include "scenarios/trainer/evaluation.h"
#include "scenarios/trainer/gradient_sum.h"
#include "scenarios/trainer/hash.h"
#include "scenarios/trainer/limited_collectives.h"
#include "scenarios/trainer/model.h"
#include "scenarios/trainer/progress_check.h"
#include "scenarios/trainer/sequence_check.h"
#include "scenarios/trainer/step_parts.h"
#include "scenarios/trainer/world_sum.h"

namespace trainer {

namespace {

constexpr double kLearningRate = 0.5;
constexpr int64_t kSamples = 4096;

// What a rank has to tell the others before a step is committed. The worst one counts.
enum Trouble : int64_t { kFine = 0, kDataEnded = 1, kFailed = 2, kMismatch = 3, kSwallowed = 4 };

int collective_failed(const Options& options, const CollectiveError& error, int64_t step) {
  rankfault_error(error.kind.c_str(), step);
  std::fprintf(stderr, "trainer: rank %d: step %lld: %s: %s\n", options.rank, static_cast<long long>(step),
               error.kind.c_str(), error.what());
  return kExitCollective;
}

class Trainer {
 public:
  // `options` name the rank and the world that `collectives` has.
  Trainer(const Options& options, Collectives& collectives)
      : options_(options),
        dataset_(options.seed),
        model_(options.hidden, options.seed),
        sums_(model_.weights().size(), options.buckets, options.float_sums),
        gradient_(model_.weights().size()),
        collectives_(collectives),
        world_sum_(chunked_sum(make_world_sum(options, collectives), options.step.chunk_unit)),
        parts_(options_, collectives) {
    policy_ = {options.checkpoint_dir, fingerprint(), options.fsync, options.rename, options.checksum};
  }

  int run() {
    step_ = resume() + 1;
    const int64_t last = last_step(options_, collectives_);
    rankfault_phase("train");
    for (; step_ <= last; ++step_) {
      if (options_.jumped_step.is(step_, options_.rank)) continue;
      rankfault_step_begin(step_);
      parts_.beat(step_);
      const Trouble trouble = exchange();
      if (trouble == kSwallowed) continue;
      if (trouble == kDataEnded) break;
      if (trouble == kFailed) return give_up();
      if (trouble == kMismatch) return mismatch();
      update();
      commit();
      if (!evaluate_now_and_then()) return give_up();
      parts_.meet_now_and_then(step_, check_);
      if (!all_at_this_step()) return mismatch();
    }
    rankfault_phase("finish");
    collectives_.barrier();
    say_the_end();
    return kExitOk;
  }

  int64_t step() const { return step_; }

 private:
  uint64_t fingerprint() const {
    const uint64_t shape[] = {options_.seed, static_cast<uint64_t>(options_.hidden),
                              static_cast<uint64_t>(options_.batch), options_.float_sums};
    return hash_bytes(shape, sizeof shape);
  }

  // Rank 0 looks for a checkpoint, all take what it found. Returns the last step done, 0 for none.
  int64_t resume() {
    rankfault_phase("resume");
    int64_t step = 0;
    if (options_.rank == 0 && options_.resume && !policy_.directory.empty()) step = load();
    collectives_.broadcast(&step, sizeof step, 0);
    if (step > 0) {
      collectives_.broadcast(model_.weights().data(), model_.weights().size() * sizeof(double), 0);
    }
    rankfault_mark("resumed_from", step);
    return step;
  }

  int64_t load() {
    remove_unfinished_checkpoints(policy_);
    LoadedCheckpoint loaded = load_newest_checkpoint(policy_);
    for (const auto& line : loaded.rejected) std::fprintf(stderr, "trainer: checkpoint %s\n", line.c_str());
    if (!loaded.newest) return 0;
    if (loaded.newest->weights.size() != model_.weights().size()) return 0;
    model_.weights() = std::move(loaded.newest->weights);
    std::printf("resumed from the checkpoint of step %lld\n", static_cast<long long>(loaded.newest->step));
    return loaded.newest->step;
  }

  // All communication of a step. What a step that failed has summed is worth nothing: its error stops
  // the rank. Without that defence it is told and swallowed, as by an `except: log` around the step.
  Trouble exchange() {
    try {
      parts_.deal_now_and_then(step_, [this] { add_sample(0, nullptr); });
      const Trouble own = compute();
      if (options_.end_of_data == EndOfData::kJoin && collectives_.max(has_batch_) == 0) return kDataEnded;
      const Trouble trouble = agree(own);
      if (trouble != kFine || !options_.sequence_check) return trouble;
      return check_.all_agree(collectives_) ? kFine : kMismatch;
    } catch (const CollectiveError& error) {
      if (options_.stop_on_error) throw;
      collective_failed(options_, error, step_);
      return kFine;
    }
  }

  // This rank's share of the global batch: samples are dealt by their global index.
  Trouble compute() {
    sums_.clear();
    has_batch_ = rankfault_batch(step_) != 0 && has_samples(options_, step_);
    if (local_failure_) return kFailed;
    if (!has_batch_) return options_.end_of_data == EndOfData::kJoin ? kFine : kDataEnded;
    if (options_.bad_sample.is(step_, options_.rank)) return sample_failed();
    const int64_t first = (step_ - 1) * options_.batch;
    const Share share = parts_.share();
    for (int64_t i = share.begin; i < share.end; i += share.stride) {
      if (options_.samples > 0 && first + i >= options_.samples) break;
      add_sample(first + i, &sums_);
    }
    return kFine;
  }

  // Into nothing, to see how long it takes.
  void add_sample(int64_t index, GradientSum* sums) {
    if (options_.step.mark_samples) rankfault_mark("sample", index);
    const double loss = model_.loss_and_gradient(dataset_.sample(index % kSamples), gradient_);
    if (sums) sums->add(gradient_, loss);
  }

  Trouble sample_failed() {
    std::fprintf(stderr, "trainer: rank %d: step %lld: a sample cannot be read\n", options_.rank,
                 static_cast<long long>(step_));
    local_failure_ = !options_.swallow_local_errors;
    return options_.swallow_local_errors ? kSwallowed : kFailed;
  }

  // Every rank, every step, in trouble or not: the same calls in the same order, then the same decision.
  // Without the error flag each rank follows its own trouble, and leaves its peers waiting; with a flag that
  // only the rank in trouble sums, that sum meets the peers' gradients.
  Trouble agree(Trouble own) {
    if (own == kSwallowed) return own;
    if (own == kDataEnded && options_.end_of_data == EndOfData::kLeave) return own;
    if (own != kFine && options_.error_flag != ErrorFlag::kAlways) {
      if (options_.error_flag == ErrorFlag::kWhenFailed) (void)collectives_.max(own);
      return own;
    }
    sums_.all_reduce(*world_sum_, check_, step_);
    if (options_.error_flag != ErrorFlag::kAlways) return kFine;
    const auto worst = static_cast<Trouble>(collectives_.max(own));
    check_.note("error_flag", 0, step_, &worst, sizeof worst);
    return worst;
  }

  void update() {
    auto& weights = model_.weights();
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] -= kLearningRate * sums_.gradient(i) / static_cast<double>(options_.batch);
    }
  }

  void commit() {
    rankfault_step_commit(step_);
    rankfault_value("weights", step_, model_.checksum());
    loss_ = sums_.loss() / static_cast<double>(options_.batch);
    rankfault_value("loss", step_, std::bit_cast<uint64_t>(loss_));
    if (options_.rank == 0 && !policy_.directory.empty() && step_ % options_.checkpoint_every == 0) {
      checkpoint();
    }
  }

  // False: it failed on this rank, and nothing catches that.
  bool evaluate_now_and_then() {
    if (options_.evaluate_every == 0 || step_ % options_.evaluate_every != 0) return true;
    rankfault_phase("evaluate");
    collectives_.begin_phase(Phase::kEvaluation);
    if (!options_.step.evaluation_dir.empty()) {
      if (!evaluate_by_all()) return false;
    } else {
      const double loss = evaluate(collectives_, model_, dataset_, options_.broadcast_on_rank_0_only);
      rankfault_value("evaluation", step_, std::bit_cast<uint64_t>(loss));
    }
    gather_and_sum(collectives_, options_.step);
    collectives_.begin_phase(Phase::kTrain);
    rankfault_phase("train");
    return true;
  }

  bool evaluate_by_all() {
    try {
      const EvaluationReport report = evaluate_shares(collectives_, model_, dataset_, options_.step);
      rankfault_value("evaluation_tries", step_, static_cast<uint64_t>(report.tries));
      rankfault_value("evaluation_samples", step_, static_cast<uint64_t>(report.samples));
      if (report.outcome == EvaluationReport::Outcome::kSkipped)
        rankfault_mark("evaluation_skipped", step_);
      else
        rankfault_value("evaluation", step_, std::bit_cast<uint64_t>(report.loss));
      return true;
    } catch (const CollectiveError&) {
      throw;
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "trainer: rank %d: step %lld: evaluation: %s\n", options_.rank,
                   static_cast<long long>(step_), error.what());
      local_failure_ = true;
      return false;
    }
  }

  bool all_at_this_step() {
    if (options_.progress_check_every == 0 || ++rounds_ % options_.progress_check_every != 0) return true;
    const std::string elsewhere = ranks_elsewhere(collectives_, step_);
    if (!elsewhere.empty())
      std::fprintf(stderr, "trainer: rank %d: step %lld: %s\n", options_.rank, static_cast<long long>(step_),
                   elsewhere.c_str());
    return elsewhere.empty();
  }

  // A failure is told to the others in the next step, where all leave together.
  void checkpoint() {
    rankfault_phase("checkpoint");
    if (auto failure = write_checkpoint(policy_, {step_, model_.weights()})) {
      std::fprintf(stderr, "trainer: checkpoint of step %lld: %s\n", static_cast<long long>(step_),
                   failure->c_str());
      local_failure_ = true;
    } else {
      rankfault_mark("checkpoint", step_);
    }
    rankfault_phase("train");
  }

  int mismatch() {
    rankfault_error("mismatch", step_);
    std::fprintf(stderr, "trainer: rank %d: step %lld: the ranks disagree on their collectives or results\n",
                 options_.rank, static_cast<long long>(step_));
    return kExitMismatch;
  }

  int give_up() {
    rankfault_error(local_failure_ ? "other" : "abort", step_);
    std::fprintf(stderr, "trainer: rank %d: step %lld: leaving, %s\n", options_.rank,
                 static_cast<long long>(step_), local_failure_ ? "a local failure" : "a peer has failed");
    return kExitLocal;
  }

  void say_the_end() const {
    if (options_.rank != 0) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    std::printf("steps %lld loss %.6f weights %016llx seconds %.3f\n", static_cast<long long>(step_ - 1),
                loss_, static_cast<unsigned long long>(model_.checksum()), took.count());
  }

  Options options_;
  Dataset dataset_;
  Model model_;
  GradientSum sums_;
  std::vector<double> gradient_;
  Collectives& collectives_;
  std::unique_ptr<WorldSum> world_sum_;
  StepParts parts_;
  SequenceCheck check_;
  CheckpointPolicy policy_;
  int64_t step_ = 0, rounds_ = 0;
  double loss_ = 0;
  bool local_failure_ = false, has_batch_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What only the size of the world can tell.
std::string misfit(const Options& options) {
  const int product = options.grid[0] * options.grid[1] * options.grid[2];
  if (product != 0 && product != options.world_size)
    return "--grid has " + std::to_string(product) + " places for " + std::to_string(options.world_size) +
           " ranks";
  return step_misfit(options);
}

}  // namespace

int train(Options options) {
  std::unique_ptr<Collectives> collectives;
  std::optional<Trainer> trainer;
  try {
    collectives = meet({options.rank, options.world_size, options.store, options.collective_timeout});
    options.rank = collectives->rank();
    options.world_size = collectives->size();
    collectives = with_limits(std::move(collectives), limits_of(options.step, options.collective_timeout),
                              keeper_of(options.step.limits_by, options.rank));
    if (const std::string mistake = misfit(options); !mistake.empty()) {
      std::fprintf(stderr, "trainer: %s\n", mistake.c_str());
      return kExitUsage;
    }
    return trainer.emplace(options, *collectives).run();
  } catch (const CollectiveError& error) {
    const int code = collective_failed(options, error, trainer ? trainer->step() : 0);
    if (collectives) collectives->leave(code);
    return code;
  }
}

}  // namespace trainer
