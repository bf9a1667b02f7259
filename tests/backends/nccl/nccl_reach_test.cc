// Tests of how much of NCCL the agent sees: a CUDA runtime inside the program, functions that dlsym finds in
// a library, and names that the loaded NCCL lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/backends/nccl/nccl_rank.h"

namespace rankfault::test {
namespace {

class NcclReach : public NcclRank {
 protected:
  int run(const std::string& words) {
    const int status = launch(words, 2);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string library() const { return build_ + "/lib/libnccl_double.so"; }
};

const rf_coverage* coverage_of(const FlightRecord& record, uint8_t library) {
  for (const rf_coverage& c : record.header.coverage)
    if (c.library == library) return &c;
  return nullptr;
}

TEST_F(NcclReach, ARuntimeInsideTheProgramIsSaidAndShowsNothingComplete) {
  ASSERT_EQ(run("nccl_own_runtime"), 0);
  const FlightRecord seen = record();
  EXPECT_EQ(seen.entered(RF_LIB_NCCL).at("all_reduce"), 1);
  const rf_coverage* const cuda = coverage_of(seen, RF_LIB_CUDA);
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(cuda->hook, RF_HOOK_NONE);
  EXPECT_STREQ(cuda->reason, "CUDA runtime linked statically");
  EXPECT_TRUE(seen.records(RF_LIB_CUDA).empty());
  for (const auto& r : seen.lanes[0]) EXPECT_NE(r.phase, RF_PHASE_COMPLETE);
  EXPECT_NE(seen.header.opaque & RF_OPAQUE_COMMUNICATION, 0u)
      << "nor is it known what is in a captured graph";
}

TEST_F(NcclReach, ASharedRuntimeIsSaidToo) {
  ASSERT_EQ(run("nccl_waits sum:A:1 sync:A"), 0);
  const rf_coverage* const cuda = coverage_of(record(), RF_LIB_CUDA);
  ASSERT_NE(cuda, nullptr);
  EXPECT_EQ(cuda->hook, RF_HOOK_PRELOAD);
}

// As ctypes, vLLM and MPI.jl find a function: by its own handle, or as the first one with the name.
TEST_F(NcclReach, WhatDlsymFindsIsSeen) {
  for (const char* where : {" default", " handle"}) {
    ASSERT_EQ(run("nccl_by_dlopen " + library() + where), 0);
    const FlightRecord seen = record();
    EXPECT_EQ(seen.entered(RF_LIB_NCCL).at("all_reduce"), 1) << where;
    const rf_coverage* const nccl = coverage_of(seen, RF_LIB_NCCL);
    ASSERT_NE(nccl, nullptr);
    EXPECT_EQ(nccl->hook, RF_HOOK_PRELOAD);
  }
}

}  // namespace
}  // namespace rankfault::test
