// training: the parts of a step: batch, gradients, all-reduce, agree, update, commit, checkpoint.
#include "workloads/trainer/training.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include "harness/mark/mark.h"
#include "workloads/trainer/checkpoint_copies.h"
#include "workloads/trainer/chunked_sum.h"
#include "workloads/trainer/dataset.h"
#include "workloads/trainer/end_of_data.h"
#include "workloads/trainer/evaluation.h"
#include "workloads/trainer/gradient_sum.h"
#include "workloads/trainer/hash.h"
#include "workloads/trainer/micro_batches.h"
#include "workloads/trainer/model.h"
#include "workloads/trainer/preflight.h"
#include "workloads/trainer/progress_check.h"
#include "workloads/trainer/sequence_check.h"
#include "workloads/trainer/step_parts.h"
#include "workloads/trainer/stop_request.h"
#include "workloads/trainer/world_sum.h"

namespace trainer {

namespace {

constexpr double kLearningRate = 0.5;
constexpr int64_t kSamples = 4096;
constexpr uint64_t kSharedMemory = 1 << 20;  // this program needs none, its libraries need a little

// What a rank reports to the others before a commit. The worst value counts. A step with kStop is committed.
enum Trouble : int64_t { kFine = 0, kStop = 1, kDataEnded = 2, kFailed = 3, kMismatch = 4, kSwallowed = 5 };

class Trainer {
 public:
  // `options` have the rank and the world size of `collectives`.
  Trainer(const Options& options, Collectives& collectives)
      : options_(options),
        dataset_(options.seed),
        model_(options.hidden, options.seed),
        sums_(model_.weights().size(), options.buckets, options.float_sums),
        gradient_(model_.weights().size()),
        collectives_(collectives),
        world_sum_(chunked_sum(make_world_sum(options, collectives), options.step.chunk_unit)),
        parts_(options_, collectives),
        micro_batches_(static_cast<size_t>(options.micro_batch), options.halve_batches) {
    for (const std::string& directory : {options.checkpoint_dir, options.checkpoint_copies})
      if (!directory.empty())
        places_.push_back({directory, fingerprint(), options.fsync, options.rename, options.checksum,
                           options.fallback, options.write_on});
  }

  int run() {
    if (options_.preflight && !ready_to_start()) return kExitPreflight;
    step_ = resume() + 1;
    if (local_failure_) return give_up();
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
      if (trouble == kStop) return stop();
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

  // Rank 0 loads a checkpoint, and all ranks take it. Returns the last step that it holds, and 0 for none.
  int64_t resume() {
    rankfault_phase("resume");
    int64_t step = 0;
    if (options_.rank == 0 && options_.resume && !places_.empty()) step = load();
    collectives_.begin_phase(Phase::kCheckpoint);  // rank 0 may still read one
    collectives_.broadcast(&step, sizeof step, 0);
    local_failure_ = step < 0;
    if (step > 0) {
      collectives_.broadcast(model_.weights().data(), model_.weights().size() * sizeof(double), 0);
    }
    rankfault_mark("resumed_from", step);
    return step;
  }

  // Negative: the checkpoints cannot be read, and a start from step 1 might lose all of them.
  int64_t load() {
    for (const auto& place : places_) remove_unfinished_checkpoints(place);
    LoadedCheckpoint loaded = load_newest_copy(places_);
    if (!loaded.unusable.empty()) {
      std::fprintf(stderr, "trainer: checkpoints: %s\n", loaded.unusable.c_str());
      return -1;
    }
    for (const auto& line : loaded.rejected) std::fprintf(stderr, "trainer: checkpoint %s\n", line.c_str());
    if (!loaded.newest) return 0;
    if (loaded.newest->weights.size() != model_.weights().size()) return 0;
    model_.weights() = std::move(loaded.newest->weights);
    std::printf("resumed from the checkpoint of step %lld\n", static_cast<long long>(loaded.newest->step));
    return loaded.newest->step;
  }

  // All communication of a step. The sums of a failed step are worthless, so its error stops the rank.
  // Without this defence, the rank reports the error and ignores it, like an `except: log` around the step.
  Trouble exchange() {
    try {
      parts_.deal_now_and_then(step_, [this] { add_sample(0, nullptr); });
      const Trouble own = compute();
      if (options_.end_of_data == EndOfData::kJoin && collectives_.max(has_batch_) == 0) return kDataEnded;
      const Trouble trouble = agree(own);
      if (trouble > kStop || !options_.sequence_check) return trouble;
      return check_.all_agree(collectives_) ? trouble : kMismatch;
    } catch (const CollectiveError& error) {
      if (options_.stop_on_error) throw;
      collective_failed(options_, error, step_);
      return kFine;
    }
  }

  // Computes this rank's share of the global batch. Samples are assigned by their global index.
  Trouble compute() {
    sums_.clear();
    has_batch_ = rankfault_batch(step_) != 0 && has_samples(options_, step_);
    if (local_failure_) return kFailed;
    if (!has_batch_) return options_.end_of_data == EndOfData::kJoin ? kFine : kDataEnded;
    if (options_.bad_sample.is(step_, options_.rank)) return sample_failed();
    parts_.compute();
    const int halvings = micro_batches_.halvings();
    try {
      micro_batches_.each(parts_.share().size(),
                          [this](size_t begin, size_t count) { accumulate(begin, count); });
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
    if (micro_batches_.halvings() > halvings) rankfault_mark("out_of_memory", step_);
    return kFine;
  }

  // Adds the samples from `begin` to `begin + count` of this rank's share. It takes the memory first, so that
  // nothing is added if there is too little.
  void accumulate(size_t begin, size_t count) {
    if (options_.fits.rank == options_.rank && static_cast<int64_t>(count) > options_.fits.step)
      throw std::bad_alloc();
    parts_.take_memory(count);
    const int64_t first = (step_ - 1) * options_.batch;
    const Share share = parts_.share();
    for (size_t k = begin; k < begin + count; ++k) {
      const int64_t i = share.begin + static_cast<int64_t>(k) * share.stride;
      if (options_.samples > 0 && first + i >= options_.samples) break;
      add_sample(first + i, &sums_);
    }
    parts_.give_memory_back();
  }

  Trouble out_of_memory() {
    rankfault_mark("out_of_memory", step_);
    std::fprintf(stderr, "trainer: rank %d: step %lld: out of memory\n", options_.rank,
                 static_cast<long long>(step_));
    local_failure_ = true;
    return kFailed;
  }

  // Without `sums`, it only computes, to measure the time.
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

  // Every rank makes the same calls in the same order in every step, with and without a failure. Then all
  // take the same decision. Without the error flag, each rank reacts to its own failure only, and its peers
  // wait for it. If only the failed rank reduces the flag, this call is paired with its peers' gradients.
  Trouble agree(Trouble own) {
    if (own == kSwallowed) return own;
    if (own == kDataEnded && options_.end_of_data == EndOfData::kLeave) return own;
    if (own != kFine && options_.error_flag != ErrorFlag::kAlways) {
      if (options_.error_flag == ErrorFlag::kWhenFailed) (void)collectives_.max(own);
      return own;
    }
    sums_.all_reduce(*world_sum_, check_, step_);
    if (own == kFine && stop_requested()) own = kStop;
    if (options_.error_flag != ErrorFlag::kAlways) return own;
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
    if (!places_.empty() && step_ % options_.checkpoint_every == 0) {
      if (options_.rank == 0) checkpoint();
      collectives_.begin_phase(Phase::kCheckpoint);
    }
  }

  // False: the evaluation failed on this rank, without a fallback.
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

  // The rank reports a failure to the others in the next step, and all leave together.
  void checkpoint() {
    rankfault_phase("checkpoint");
    const WrittenCopies written = write_copies(places_, {step_, model_.weights()});
    for (const std::string& failure : written.failed)
      std::fprintf(stderr, "trainer: checkpoint of step %lld: %s\n", static_cast<long long>(step_),
                   failure.c_str());
    if (written.whole > 0)
      rankfault_mark("checkpoint", step_);
    else
      local_failure_ = true;
    rankfault_phase("train");
  }

  // All ranks are here, in the same step. If a checkpoint was due, the commit has written it already.
  int stop() {
    if (options_.rank == 0 && !places_.empty() && step_ % options_.checkpoint_every != 0) checkpoint();
    std::fprintf(stderr, "trainer: rank %d: step %lld: stopping, as asked\n", options_.rank,
                 static_cast<long long>(step_));
    return local_failure_ ? kExitLocal : kExitStopped;
  }

  // Every rank reports the defects of its host. Either all ranks start, or none does.
  bool ready_to_start() {
    rankfault_phase("preflight");
    const uint64_t bytes = 3 * (sizeof(CheckpointHeader) + model_.weights().size() * sizeof(double));
    const Defects defects = preflight({options_.checkpoint_dir, bytes, kSharedMemory}, collectives_);
    for (const std::string& line : defects)
      std::fprintf(stderr, "trainer: rank %d: preflight: %s\n", options_.rank, line.c_str());
    return collectives_.max(static_cast<int64_t>(defects.size())) == 0;
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
  std::vector<CheckpointPolicy> places_;
  MicroBatches micro_batches_;
  int64_t step_ = 0, rounds_ = 0;
  double loss_ = 0;
  bool local_failure_ = false, has_batch_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

struct Training::Loop : Trainer {
  using Trainer::Trainer;
};

Training::Training(const Options& options, Collectives& collectives)
    : loop_(std::make_unique<Loop>(options, collectives)) {}
Training::~Training() = default;
int Training::run() { return loop_->run(); }
int64_t Training::step() const { return loop_->step(); }

int collective_failed(const Options& options, const CollectiveError& error, int64_t step) {
  rankfault_error(error.kind.c_str(), step);
  std::fprintf(stderr, "trainer: rank %d: step %lld: %s: %s\n", options.rank, static_cast<long long>(step),
               error.kind.c_str(), error.what());
  return kExitCollective;
}

}  // namespace trainer
