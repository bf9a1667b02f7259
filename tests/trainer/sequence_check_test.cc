// SequenceCheck tests: different histories have different hashes; a single rank agrees with itself.
#include "workloads/trainer/sequence_check.h"

#include <gtest/gtest.h>

#include "workloads/trainer/collectives.h"

namespace trainer {
namespace {

uint64_t history(std::initializer_list<std::tuple<const char*, int, int, int64_t>> calls) {
  SequenceCheck check;
  for (const auto& [operation, bucket, step, result] : calls) {
    check.note(operation, bucket, step, &result, sizeof result);
  }
  return check.hash();
}

TEST(SequenceCheck, EveryPartOfACallCounts) {
  const uint64_t one = history({{"all_reduce", 1, 2, 3}});
  EXPECT_EQ(history({{"all_reduce", 1, 2, 3}}), one);
  EXPECT_NE(history({{"all_gather", 1, 2, 3}}), one);
  EXPECT_NE(history({{"all_reduce", 0, 2, 3}}), one);
  EXPECT_NE(history({{"all_reduce", 1, 1, 3}}), one);
  EXPECT_NE(history({{"all_reduce", 1, 2, 4}}), one);
}

TEST(SequenceCheck, OrderCounts) {
  EXPECT_NE(history({{"all_reduce", 0, 1, 5}, {"all_reduce", 1, 1, 5}}),
            history({{"all_reduce", 1, 1, 5}, {"all_reduce", 0, 1, 5}}));
}

TEST(SequenceCheck, ARankAloneAgreesWithItself) { EXPECT_TRUE(SequenceCheck().all_agree(*meet({}))); }

}  // namespace
}  // namespace trainer
