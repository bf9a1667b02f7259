// train: one step is: batch, gradients, all-reduce, agree, update, commit, checkpoint.
#include "scenarios/trainer/train.h"

#include <bit>
#include <chrono>
#include <cstdio>

#include "harness/mark/mark.h"
#include "scenarios/trainer/checkpoint.h"
#include "scenarios/trainer/collectives.h"
#include "scenarios/trainer/dataset.h"
#include "scenarios/trainer/gradient_sum.h"
#include "scenarios/trainer/hash.h"
#include "scenarios/trainer/model.h"
#include "scenarios/trainer/sequence_check.h"

namespace trainer {

namespace {

constexpr double kLearningRate = 0.5;
constexpr int64_t kSamples = 4096;

// What a rank has to tell the others before a step is committed. The worst one counts.
enum Trouble : int64_t { kFine = 0, kDataEnded = 1, kFailed = 2, kMismatch = 3 };

int collective_failed(const Options& options, const CollectiveError& error, int64_t step) {
  rankfault_error(error.kind.c_str(), step);
  std::fprintf(stderr, "trainer: rank %d: step %lld: %s: %s\n", options.rank, static_cast<long long>(step),
               error.kind.c_str(), error.what());
  return kExitCollective;
}

class Trainer {
 public:
  explicit Trainer(const Options& options)
      : options_(options),
        dataset_(options.seed),
        model_(options.hidden, options.seed),
        sums_(model_.weights().size(), options.buckets, options.float_sums),
        gradient_(model_.weights().size()),
        collectives_(options.rank, options.world_size, options.store, options.collective_timeout) {
    policy_ = {options.checkpoint_dir, fingerprint(), options.fsync, options.rename, options.checksum};
  }

  int run() {
    step_ = resume() + 1;
    rankfault_phase("train");
    for (; step_ <= options_.steps; ++step_) {
      rankfault_step_begin(step_);
      const Trouble trouble = exchange();
      if (trouble == kDataEnded) break;
      if (trouble == kFailed) return give_up();
      if (trouble == kMismatch) return mismatch();
      update();
      commit();
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
    collectives_.broadcast_from_0(&step, sizeof step);
    if (step > 0) {
      collectives_.broadcast_from_0(model_.weights().data(), model_.weights().size() * sizeof(double));
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
      const Trouble trouble = agree(compute());
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
    const bool has_batch = rankfault_batch(step_) != 0;
    const Trouble own = local_failure_ ? kFailed : has_batch ? kFine : kDataEnded;
    if (own != kFine) return own;
    const int64_t first = (step_ - 1) * options_.batch;
    for (int64_t i = options_.rank; i < options_.batch; i += options_.world_size) {
      const double loss = model_.loss_and_gradient(dataset_.sample((first + i) % kSamples), gradient_);
      sums_.add(gradient_, loss);
    }
    return kFine;
  }

  // Every rank, every step, in trouble or not: the same calls in the same order, then the same decision.
  // Without the error flag each rank follows its own trouble, and leaves its peers waiting.
  Trouble agree(Trouble own) {
    if (!options_.error_flag && own != kFine) return own;
    sums_.all_reduce(collectives_, check_, step_);
    if (!options_.error_flag) return kFine;
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
  Collectives collectives_;
  SequenceCheck check_;
  CheckpointPolicy policy_;
  int64_t step_ = 0;
  double loss_ = 0;
  bool local_failure_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int train(const Options& options) {
  std::optional<Trainer> trainer;
  try {
    trainer.emplace(options);
    return trainer->run();
  } catch (const CollectiveError& error) {
    return collective_failed(options, error, trainer ? trainer->step() : 0);
  }
}

}  // namespace trainer
