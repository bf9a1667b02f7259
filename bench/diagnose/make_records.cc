// make_records RUN_DIR TROUBLE TENSOR PIPELINE DATA STEPS CULPRITS [LOST]: writes the run directory of a
// synthetic job, for the score table and for sizes that the machine cannot run. CULPRITS and LOST: ranks with
// commas, "-" for none. Without arguments, it prints the troubles, the kind of finding that reports each, and
// whether the finding blames a rank.
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tests/support/synthetic_records.h"

namespace rankfault::testing {
namespace {

int main_of(int argc, char** argv) {
  if (argc == 1) {
    for (const Trouble& t : all_troubles()) std::printf("%s %s %d\n", t.word, t.finding, t.blames);
    return 0;
  }
  const auto trouble = argc < 8 ? std::nullopt : trouble_named(argv[2]);
  if (!trouble) {
    std::fprintf(stderr, "usage: make_records RUN_DIR TROUBLE TENSOR PIPELINE DATA STEPS CULPRITS [LOST]\n");
    return 64;
  }
  SyntheticJob job;
  job.tensor = std::atoi(argv[3]);
  job.pipeline = std::atoi(argv[4]);
  job.data = std::atoi(argv[5]);
  job.steps = std::atoi(argv[6]);
  job.at_step = job.steps - 1;  // gives the records the requested length
  job.culprits = ranks_in(argv[7]);
  if (argc > 8) job.lost_dumps = ranks_in(argv[8]);
  write_synthetic_records(argv[1], job, *trouble);
  return 0;
}

}  // namespace
}  // namespace rankfault::testing

int main(int argc, char** argv) { return rankfault::testing::main_of(argc, argv); }
