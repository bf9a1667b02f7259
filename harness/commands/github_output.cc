#include "harness/commands/github_output.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "harness/commands/run_output.h"

namespace rankfault {

Status write_for_github(const SessionResult& result) {
  const Result<std::string> annotations = report_text("github", result);
  if (!annotations) return annotations.error();
  const Result<std::string> summary = report_text("github-summary", result);
  if (!summary) return summary.error();
  fmt::print("{}", *annotations);
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path) {
    fmt::print("{}", *summary);
    return Done{};
  }
  std::ofstream out(path, std::ios::app);
  out << *summary << std::flush;
  return out ? Status(Done{}) : errno_error(fmt::format("write {}", path));
}

}  // namespace rankfault
