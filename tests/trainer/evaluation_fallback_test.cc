// evaluation_fallback tests: all ranks report the same, whichever rank fails.
#include "workloads/trainer/evaluation_fallback.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/trainer/thread_world.h"

namespace trainer {
namespace {

using Outcome = EvaluationReport::Outcome;

// The loss of each sample is its number. Ranks in `failing` cannot take more than `most` samples at a time.
std::vector<EvaluationReport> reports_of(int ranks, const std::vector<int>& failing, int64_t most) {
  std::vector<EvaluationReport> reports(static_cast<size_t>(ranks));
  ThreadWorld(ranks).run([&](Collectives& world) {
    const bool fails = std::find(failing.begin(), failing.end(), world.rank()) != failing.end();
    reports[static_cast<size_t>(world.rank())] =
        evaluate_with_fallback(world, {}, [&](int64_t first, int64_t end, int64_t step) {
          int64_t sum = 0, taken = 0;
          for (int64_t i = first; i < end; i += step, ++taken)
            sum += i * static_cast<int64_t>(kEvaluationGrid);
          if (fails && taken > most) throw std::runtime_error("out of memory");
          return sum;
        });
  });
  return reports;
}

void expect_all(const std::vector<EvaluationReport>& reports, Outcome outcome, int tries, int64_t samples) {
  for (const EvaluationReport& report : reports) {
    EXPECT_EQ(report.outcome, outcome);
    EXPECT_EQ(report.tries, tries);
    EXPECT_EQ(report.samples, samples);
    EXPECT_EQ(report.loss, reports[0].loss);
  }
}

TEST(EvaluationFallback, OneTryWhereNobodyFails) {
  for (const int ranks : {1, 3, 4}) {
    const auto reports = reports_of(ranks, {}, 0);
    expect_all(reports, Outcome::kWhole, 1, 64);
    EXPECT_EQ(reports[0].loss, 31.5);
  }
}

TEST(EvaluationFallback, HalvesTheBatchUntilItFits) {
  const auto reports = reports_of(4, {2}, 4);  // for each try and rank 16, then 8, then 4
  expect_all(reports, Outcome::kWhole, 3, 64);
  EXPECT_EQ(reports[0].loss, 31.5);
}

TEST(EvaluationFallback, APartOfTheSamplesIsAcceptedFromAHalfOn) {
  expect_all(reports_of(4, {2}, 0), Outcome::kPartial, 3, 48);
  expect_all(reports_of(4, {0, 2}, 0), Outcome::kPartial, 3, 32);
}

TEST(EvaluationFallback, LessThanAHalfIsNoResult) {
  expect_all(reports_of(4, {0, 1, 2}, 0), Outcome::kSkipped, 3, 16);
  expect_all(reports_of(1, {0}, 0), Outcome::kSkipped, 3, 0);
}

TEST(EvaluationFallback, WithoutTheDefenceAFailureIsTheCallers) {
  EvaluationPlan plan;
  plan.fall_back = false;
  ThreadWorld(1).run([&](Collectives& world) {
    EXPECT_THROW(evaluate_with_fallback(
                     world, plan,
                     [](int64_t, int64_t, int64_t) -> int64_t { throw std::runtime_error("out of memory"); }),
                 std::runtime_error);
  });
}

}  // namespace
}  // namespace trainer
