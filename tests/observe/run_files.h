// RunFiles: a fixture with the files of a run that the test writes: flight records and a journal.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault::testing {

class RunFiles : public ::testing::Test {
 protected:
  RunFiles() { std::filesystem::create_directory(records_); }
  ProcessId process(int rank) const { return {7, 8, 900'000'000 + rank, 11, 0}; }  // this pid does not exist
  std::unique_ptr<RingFileWriter> ring(int rank, int world = 2) {
    auto w = std::make_unique<RingFileWriter>(records_, process(rank), rank, world);
    w->add_comm(99, "world", world, rank);
    return w;
  }
  void journal(const std::vector<Json>& lines) {
    std::ofstream out(run_ + "/journal.ndjson");
    for (const Json& line : lines) out << line.dump() << "\n";
  }

  test::Scratch scratch_;
  const std::string run_ = scratch_.path(), records_ = run_ + "/records";
};

}  // namespace rankfault::testing
