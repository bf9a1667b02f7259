// Comparison: the runs of all variants of a scenario, in one directory that can be copied anywhere and judged
// there.
//
// DIR/comparison.json lists the runs; each is a run directory of its own, DIR/ID.N.
#pragma once

#include "harness/session/scenario_runner.h"

namespace rankfault {

class Comparison {
 public:
  static Result<Comparison> open(const Scenario&, const std::string& dir);  // "" : a fresh one

  // First each variant once, then the variants that run more than once.
  std::vector<std::pair<const Variant*, int>> turns() const;
  const std::string& dir() const { return dir_; }
  std::string run_dir(const Variant&, int n) const;
  void add(const Variant&, int n, ScenarioOutcome);
  void discard() const;  // removes it and all runs in it
  // Judges all of them, and writes result.json.
  Result<RunReport> finish();

 private:
  struct Run {
    std::string id;
    int n = 1;
    ScenarioOutcome unit;
  };
  Status write_list() const;

  const Scenario* scenario_ = nullptr;
  std::string dir_;
  std::vector<Run> runs_;
};

bool is_comparison(const std::string& dir);
// Judges a finished comparison again, from its directory alone.
Result<RunReport> judge_comparison_dir(const std::string& dir);

}  // namespace rankfault
