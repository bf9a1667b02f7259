// run_output: what `run` prints: each scenario as it is done, teeth as a table, totals.
#pragma once

#include <string>

#include "harness/session/session.h"

namespace rankfault {

std::string unit_text(const UnitResult&, bool colour);
std::string totals_text(const SessionResult&);
// By a registered report; with teeth "json" and "junit" tell of teeth.
Result<std::string> report_text(const std::string& format, const SessionResult&);

}  // namespace rankfault
