// details: the parts below the timeline: findings, expectations with the lines that decide them, faults,
// stacks, notes.
#pragma once

#include "reports/html/shapes.h"
#include "reports/report.h"

namespace rankfault::html {

Json findings_json(const RunFacts&, const CommNames&);  // the first causes with their graphs
Json expectations_json(const RunReport&);
Json faults_json(const RunReport&);
Json parks_json(const RunFacts&);   // when a rank was parked at a gate
Json stacks_json(const RunFacts&);  // what each rank did while the job hung
Json log_json(const RunReport&);    // the last lines of the rank, or the launcher, that failed
Json notes_json(const RunReport&);  // losses, and what was left behind

}  // namespace rankfault::html
