// evaluation: a mean loss, by one rank or by all.
#include "workloads/trainer/evaluation.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/dataset.h"
#include "workloads/trainer/file.h"
#include "workloads/trainer/model.h"
#include "workloads/trainer/step_options.h"

namespace trainer {

namespace {

constexpr int64_t kFirstSample = 1'000'000, kSamples = 64;

void write_losses(const std::string& path, const std::vector<double>& losses) {
  const File file(open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.is_open()) throw std::runtime_error(system_error("cannot open", path));
  const auto size = static_cast<ssize_t>(losses.size() * sizeof(double));
  if (write(file.get(), losses.data(), static_cast<size_t>(size)) != size)
    throw std::runtime_error(system_error("cannot write", path));
}

}  // namespace

double evaluate(Collectives& collectives, const Model& model, const Dataset& dataset,
                bool broadcast_on_rank_0_only) {
  double loss = 0;
  if (collectives.rank() == 0) {
    for (int64_t i = 0; i < kSamples; ++i) loss += model.loss(dataset.sample(kFirstSample + i));
    loss /= kSamples;
  }
  if (collectives.rank() == 0 || !broadcast_on_rank_0_only) collectives.broadcast(&loss, sizeof loss, 0);
  return loss;
}

EvaluationReport evaluate_shares(Collectives& collectives, const Model& model, const Dataset& dataset,
                                 const StepOptions& options) {
  mkdir(options.evaluation_dir.c_str(), 0700);  // the first rank makes it; a failure shows in the first write
  const std::string path =
      options.evaluation_dir + "/predictions-" + std::to_string(collectives.rank()) + ".bin";
  EvaluationPlan plan;
  plan.samples = plan.batch = kSamples;
  plan.fall_back = options.evaluation_fallback;
  plan.agree = options.evaluation_agreement;
  return evaluate_with_fallback(collectives, plan, [&](int64_t first, int64_t end, int64_t step) {
    std::vector<double> losses;
    int64_t sum = 0;
    for (int64_t i = first; i < end; i += step) {
      losses.push_back(model.loss(dataset.sample(kFirstSample + i)));
      sum += std::llrint(losses.back() * kEvaluationGrid);
    }
    write_losses(path, losses);
    return sum;
  });
}

void gather_and_sum(Collectives& collectives, const StepOptions& options) {
  if (options.evaluation_gather > 0) {
    const std::vector<float> mine(options.evaluation_gather, static_cast<float>(collectives.rank()));
    (void)collectives.gather(mine.data(), mine.size());
  }
  if (options.evaluation_sum > 0) {
    std::vector<float> numbers(options.evaluation_sum, 1.0f);
    collectives.sum(numbers.data(), numbers.size());
  }
}

}  // namespace trainer
