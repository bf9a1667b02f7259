// recovery_words_test: which words make an mpirun leave the other ranks alone.
#include "harness/launch/launchers/recovery_words.h"

#include <gtest/gtest.h>

namespace rankfault::test {
namespace {

using Words = std::vector<std::string>;

TEST(RecoveryWords, AreThoseByWhichAnMpirunLeavesTheOthersAlone) {
  for (const Words& words : {Words{"--oversubscribe", "--enable-recovery"}, Words{"-disable-auto-cleanup"},
                             Words{"--with-ft", "ulfm"}, Words{"--with-ft=mpi"},
                             Words{"--mca", "orte_enable_recovery", "1"}, Words{"--rtos", "recoverable"}})
    EXPECT_TRUE(leaves_other_ranks_alone(words)) << words.front();
  for (const Words& words :
       {Words{}, Words{"--oversubscribe"}, Words{"--with-ft", "none"}, Words{"--with-ft"},
        Words{"-x", "enable-recovery"}, Words{"--mca", "orte_enable_recovery", "0"}})
    EXPECT_FALSE(leaves_other_ranks_alone(words)) << words.size();
}

}  // namespace
}  // namespace rankfault::test
