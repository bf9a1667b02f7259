// nccl_rank: runs one rank program over the doubles of libnccl and CUDA, under the agent, and reads its
// record.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "tests/backends/flight_record.h"

namespace rankfault::test {

class NcclRank : public ::testing::Test {
 protected:
  void SetUp() override {
    build_ = getenv("RANKFAULT_BUILD_DIR");
    if (!std::filesystem::exists(build_ + "/lib/decoders/nccl.so")) GTEST_SKIP() << "built without nccl.h";
    char name[] = "/tmp/rf-nccl-XXXXXX";
    run_dir_ = mkdtemp(name);
  }
  void TearDown() override {
    if (!run_dir_.empty()) std::filesystem::remove_all(run_dir_);
  }
  // Runs rank 0: `words` are a program of bin/ranks/nccl and its arguments. Returns the program's wait
  // status. Removes the records of an earlier run. `told`: the variables of the launcher, if they are not
  // torchrun's.
  int launch(const std::string& words, int world, const std::string& environment = "",
             const std::string& told = "") {
    std::filesystem::remove_all(run_dir_ + "/records");
    std::filesystem::create_directories(run_dir_ + "/records");
    const std::string launcher = told.empty() ? " RANK=0 WORLD_SIZE=" + std::to_string(world) : " " + told;
    const std::string command = "exec env " + environment + launcher + " RANKFAULT_RUN_DIR=" + run_dir_ +
                                " LD_PRELOAD=" + build_ + "/lib/librankfault_agent.so " + build_ +
                                "/bin/ranks/nccl/" + words;
    return system(command.c_str());
  }
  FlightRecord record() const { return read_flight_records(run_dir_)[0]; }

  std::string build_, run_dir_;
};

}  // namespace rankfault::test
