// Report: one output format for the findings of a run; one file each in reports/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/catalog.h"
#include "harness/facts/run_facts.h"
#include "harness/judge/verdict.h"

namespace rankfault {

struct VariantRow {  // one run of a scenario that runs in several variants
  std::string id;
  int n = 1;
  int ranks = 0;
  Verdict verdict = Verdict::kUnknown;
  double seconds = 0;
  std::string summary;
};

struct ComparedRuns {
  std::vector<VariantRow> rows;
  std::string dir;  // holds the runs
  MustBe must_be;
};

struct RunReport {                  // one finished run of one scenario (or a skipped one)
  const RunFacts* facts = nullptr;  // null when it was not run
  Judgement judgement;
  std::string scenario, file;
  std::string skipped;            // why; "" when it was run
  std::string cleanup;            // "" clean, else what is left
  std::vector<std::string> lost;  // what the live run could not keep because the disk refused it
  std::string cuda_double;        // the version of NCCL over the double of CUDA; "" it was not run over it
  int exit_code = 0;
  bool is_kept = true;            // false: the command that made the run removes its directory at its end
  SourcePos where;                // of the mistake that kept it from running
  std::string began;              // in UTC: "2026-11-27T21:33:11"; "" not known
  std::optional<double> seconds;  // how long a command took for it, with the reference run that it started;
                                  // not known: read from its directory
  std::optional<ComparedRuns> compared;  // set if it ran in several variants: there are no facts of a single
                                         // run
};

struct Report {
  const char* name;  // "console", "junit", "json" ...
  const char* summary;
  Result<std::string> (*write)(const std::vector<RunReport>&);  // pure: returns the text
};

Json result_json(const RunReport&);  // result.json

}  // namespace rankfault
