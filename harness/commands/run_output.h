// run_output: the output of `run`: each scenario when it is done, mutation checks (teeth), and totals.
#pragma once

#include <string>

#include "harness/session/session.h"
#include "reports/words.h"

namespace rankfault {

std::string unit_text(const ScenarioOutcome&, const ConsoleStyle&);
std::string totals_text(const SessionResult&);
// Writes the registered report `format`; with mutation checks, "json" and "junit" report those.
Result<std::string> report_text(const std::string& format, const SessionResult&);

}  // namespace rankfault
