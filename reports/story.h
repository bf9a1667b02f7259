// story: what a report says first: one sentence on what happened, the places that it is about, and what each
// rank did last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/report.h"

namespace rankfault {

// The finding that has no cause among the others; null: nothing was found wrong.
const Finding* first_cause(const RunReport&);

// The text of the first cause; without one, the judgement's own summary.
std::string story_of(const RunReport&);

// The status with which the last attempt of the job ended: "exit 0", "SIGKILL". "": rankfault ended the job.
std::string job_status(const RunFacts&);

// The result that decided the verdict; null: no expectation was judged.
const ExpectationResult* deciding_result(const RunReport&);

// Where the scenario says what did not hold: the expectation, or a fault without effect. The line is 0 if it
// is not known.
SourcePos place_in_scenario(const RunReport&);

// The line of the job's own program that the first cause names, if a word of the command is that file.
std::optional<SourcePos> line_of_program(const RunReport&);

// What ranks did last; those that did the same share a row.
struct RankRow {
  std::vector<int> ranks;
  std::string end;    // "ended by SIGKILL", "ended by rankfault"
  std::string step;   // "4", "" it has none
  std::string call;   // "all_reduce on world, call 98"
  std::string state;  // "inside", "returned", "failed", "pending"
  std::string where;  // "train.py:12"
};
std::vector<RankRow> rank_rows(const RunFacts&);

// A communicator for people: its name, else "world" or its size; "" null.
std::string comm_name(const CommView*, int world_size);

}  // namespace rankfault
