// make_dumps FOLDER KIND TENSOR PIPELINE DATA STEPS CULPRITS [LOST] [active]: writes the dumps of a synthetic
// job, for the score table and for sizes that the machine cannot run. CULPRITS and LOST: ranks with commas,
// "-" for none.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "harness/flight_recorder/write_dump.h"
#include "tests/support/synthetic_dumps.h"

namespace rankfault::testing {
namespace {

bool set_kind(SyntheticJob& job, const char* word) {
  for (int k = 0; k <= static_cast<int>(SyntheticJob::Broken::kWedged); ++k) {
    job.broken = static_cast<SyntheticJob::Broken>(k);
    if (!std::strcmp(name_of(job.broken), word)) return true;
  }
  return false;
}

int main_of(int argc, char** argv) {
  SyntheticJob job;
  if (argc < 8 || !set_kind(job, argv[2])) {
    std::fprintf(stderr,
                 "usage: make_dumps FOLDER KIND TENSOR PIPELINE DATA STEPS CULPRITS [LOST] [active]\n");
    return 64;
  }
  job.tensor = std::atoi(argv[3]);
  job.pipeline = std::atoi(argv[4]);
  job.data = std::atoi(argv[5]);
  job.steps = std::atoi(argv[6]);
  job.at_step = job.steps / 2;
  job.culprits = ranks_in(argv[7]);
  if (argc > 8) job.lost_dumps = ranks_in(argv[8]);
  job.only_active = argc > 9;
  std::filesystem::create_directories(argv[1]);
  int failures = 0;
  each_synthetic_dump(job,
                      [&](const FrDump& dump) { failures += !write_dump(argv[1], "_dump_", dump).ok(); });
  return failures ? 70 : 0;
}

}  // namespace
}  // namespace rankfault::testing

int main(int argc, char** argv) { return rankfault::testing::main_of(argc, argv); }
