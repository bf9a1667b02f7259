// runs: the runs that the tests of the reports write, and their approved baselines in tests/baselines. After
// an intended change, RANKFAULT_APPROVE=1 rewrites them; read the difference before you commit it.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "reports/report.h"
#include "tests/judge/facts.h"

namespace rankfault::test {

std::string source_file(const std::string& name);  // its text
void expect_approved(const std::string& name, const std::string& text);
std::string written(const char* format, const std::vector<RunReport>& reports);
RunReport report_of(Facts& facts, const std::string& file, const std::string& name);

// A failed kill, a canary that fails as it must, and a skipped scenario.
class Reports : public testing::Test {
 protected:
  Reports();

  Facts killed_, canary_;
  std::vector<RunReport> reports_;
};

// Text as a hostile job may write it: markup of every format, commands of CI servers and of terminals.
extern const char* const kHostile;
// Every text that comes from the job is kHostile.
RunReport hostile_report(Facts& facts);
// No control character but the end of a line, no bytes that are not UTF-8, no command of a CI server.
void expect_inert(const std::string& text, const std::string& what);

// A run whose tool was killed: its journal has no end.
RunReport cut_report(Facts& facts);
// That many ranks in one call, each with ten calls before it; the last one is dead.
RunReport large_report(Facts& facts);

}  // namespace rankfault::test
