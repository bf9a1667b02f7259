// RestartWindow and MicroBatches tests: the two policies without side effects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "workloads/trainer/micro_batches.h"
#include "workloads/trainer/supervisor/restart_window.h"

namespace trainer {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

RestartWindow::Time at(std::chrono::milliseconds time) { return RestartWindow::Time(time); }

TEST(RestartWindow, TheFourthFailureInAnHourEscalates) {
  RestartWindow window(3, 1h);
  EXPECT_TRUE(window.restart_after_failure(at(0min)));
  EXPECT_TRUE(window.restart_after_failure(at(10min)));
  EXPECT_TRUE(window.restart_after_failure(at(20min)));
  EXPECT_FALSE(window.restart_after_failure(at(59min)));
}

TEST(RestartWindow, OldFailuresAreForgotten) {
  RestartWindow window(3, 1h);
  for (int hour = 0; hour < 20; ++hour) EXPECT_TRUE(window.restart_after_failure(at(hour * 25min))) << hour;
  EXPECT_EQ(window.in_window(), 3u);
}

TEST(RestartWindow, AWindowOfNoneNeverRestarts) {
  EXPECT_FALSE(RestartWindow(0, 1h).restart_after_failure(at(0min)));
}

// Returns the sizes of the pieces, if only `fits` samples fit at a time.
std::vector<size_t> pieces(MicroBatches& batches, size_t samples, size_t fits) {
  std::vector<size_t> made;
  size_t next = 0;
  batches.each(samples, [&](size_t first, size_t count) {
    if (count > fits) throw std::bad_alloc();
    EXPECT_EQ(first, next);
    next = first + count;
    made.push_back(count);
  });
  EXPECT_EQ(next, samples);
  return made;
}

TEST(MicroBatches, HalvesUntilItFitsAndCoversEverySampleOnce) {
  MicroBatches batches(0);
  EXPECT_THAT(pieces(batches, 32, 10), ElementsAre(8, 8, 8, 8));
  EXPECT_EQ(batches.halvings(), 2);
  EXPECT_THAT(pieces(batches, 32, 10), ElementsAre(8, 8, 8, 8));  // it does not try again
  EXPECT_EQ(batches.halvings(), 2);
}

TEST(MicroBatches, TheLastPieceIsTheRest) {
  MicroBatches batches(8);
  EXPECT_THAT(pieces(batches, 19, 8), ElementsAre(8, 8, 3));
  EXPECT_THAT(pieces(batches, 0, 8), ElementsAre());
}

TEST(MicroBatches, ASingleSampleThatDoesNotFitIsAnError) {
  MicroBatches batches(4);
  EXPECT_THROW(pieces(batches, 4, 0), std::bad_alloc);
}

TEST(MicroBatches, WithoutHalvingTheFirstFailureIsTheLast) {
  MicroBatches batches(4, false);
  EXPECT_THROW(pieces(batches, 4, 2), std::bad_alloc);
}

}  // namespace
}  // namespace trainer
