// falsify RUN_DIR... [--cuts N] [--seed S]: cuts recorded runs at random points of each rank, and diagnoses
// the cuts, most of them with only the newest few calls of each lane. The rest of the same record then checks
// each proven claim. This needs no known truth: a call that was proven not to return success, and returned it
// later, is a refutation.
//
// Exit: 0 no claim was refuted, 1 a claim was (printed, with the words that repeat it), 64 usage.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"
#include "harness/observe/observer.h"
#include "tests/falsify/cut.h"
#include "tests/falsify/refute.h"
#include "tests/falsify/window.h"

namespace rankfault::testing {
namespace {

struct Tally {
  long cuts = 0, with_claim = 0, refuted = 0;
  std::map<std::string, long> by_kind;  // cuts that carried a proven claim of that kind
};

void falsify(const std::string& run, long cuts, uint64_t seed, Tally& tally) {
  const Result<Timeline> whole = final_timeline(run);
  if (!whole.ok() || whole->processes.empty()) return;
  const JobView view(*whole);
  std::mt19937_64 random(seed);
  for (long i = 0; i < cuts; ++i) {
    const bool of_one_instant = i % 4 == 3;
    const std::vector<size_t> points =
        of_one_instant ? points_of_one_instant(*whole, random) : random_points(*whole, random);
    const uint64_t window = random_window(random);
    const Findings found = diagnose(windowed(cut(*whole, points), window));
    ++tally.cuts;
    bool claims = false;
    for (const Finding& f : found.all) {
      if (f.claim == Claim::kNone || (f.claim == Claim::kHadNotEntered && !of_one_instant)) continue;
      claims = true;
      ++tally.by_kind[f.kind];
      if (const std::string why = refutation(view, f); !why.empty()) {
        ++tally.refuted;
        std::printf("REFUTED in %s, seed %llu, cut %ld, window %llu: %s\n%s\n", run.c_str(),
                    static_cast<unsigned long long>(seed), i, static_cast<unsigned long long>(window),
                    why.c_str(), to_json(f).dump(1).c_str());
        for (size_t p = 0; p < points.size(); ++p)
          std::printf("  rank %d: %zu of %zu records\n", whole->processes[p].rank, points[p],
                      whole->processes[p].history.size());
      }
    }
    tally.with_claim += claims;
  }
}

int main_of(int argc, char** argv) {
  std::vector<std::string> runs;
  long cuts = 1000;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--cuts") && i + 1 < argc)
      cuts = std::atol(argv[++i]);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else
      runs.emplace_back(argv[i]);
  }
  if (runs.empty() || cuts <= 0) {
    std::fprintf(stderr, "usage: falsify RUN_DIR... [--cuts N, of each] [--seed S]\n");
    return 64;
  }
  Tally tally;
  for (const std::string& run : runs) falsify(run, cuts, seed++, tally);
  std::printf("%zu runs, %ld cuts, %ld with a proven claim, %ld refuted\n", runs.size(), tally.cuts,
              tally.with_claim, tally.refuted);
  for (const auto& [kind, count] : tally.by_kind)
    std::printf("  %8ld with a proven %s\n", count, kind.c_str());
  return tally.cuts == 0 ? 64 : tally.refuted ? 1 : 0;
}

}  // namespace
}  // namespace rankfault::testing

int main(int argc, char** argv) { return rankfault::testing::main_of(argc, argv); }
