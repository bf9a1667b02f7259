// MutationCheck: proves that a scenario detects a mutation (YAML key teeth): four runs, with the defence on
// and off, and with and without the fault.
//              no fault                        fault
//   on         the reference passes            the scenario is as expected
//   off        passes what names no fault      the fault bites, and the named expectation fails
// For a bug the square has two corners: on, the scenario passes; off, only `blamed` fails, on `none`. A
// scenario that has neither fault nor bug but compares its variants also has two: on, it passes; off, the
// named comparison fails, and each variant passes by itself.
#pragma once

#include "harness/session/scenario_runner.h"

namespace rankfault {

class MutationCheck {
 public:
  MutationCheck(RunFunction run, References& references, const SessionOptions& options)
      : run_(std::move(run)), references_(references), options_(options) {}

  Result<std::vector<MutationRow>> prove(const Scenario&);

  const std::string& left() const { return left_; }  // what clean-up could not undo
  const std::vector<std::string>& run_dirs() const { return run_dirs_; }

 private:
  void note(const RunReport&);
  Result<Judgement> corner(const Scenario&, const Tooth*, bool trouble_on);
  Result<FinishedRun> run_once(const Scenario&, const Variant*, const Tooth*, bool trouble_on);
  Result<Judgement> all_variants(const Scenario&, const Tooth*, bool trouble_on);
  Result<MutationRow> prove_comparison(const Scenario&, const Tooth&, const Judgement& on);
  Result<MutationRow> prove_tooth(const Scenario&, const Tooth&, const Judgement& quiet,
                                  const Judgement& fault);
  Result<MutationRow> prove_bug(const Scenario&, const Judgement& bug_on);

  RunFunction run_;
  References& references_;
  const SessionOptions& options_;
  std::map<std::string, std::string> references_of_;  // by variant; "" for a scenario without any
  std::string left_, cuda_double_;
  std::vector<std::string> run_dirs_;
};

}  // namespace rankfault
