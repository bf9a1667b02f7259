// log: the tool's own log: what it saw and decided, and when. It goes to tool.log in the run directory, and
// with --log-level to standard error. Users attach tool.log to a bug report. Nothing is judged by it: that is
// the journal's part.
//
// Threads: any. A line that cannot be written is lost.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>

#include "harness/base/result.h"

namespace rankfault {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

bool is_logged(LogLevel);
void log_text(LogLevel, const std::string&);

template <typename... Args>
void tool_log(LogLevel level, fmt::format_string<Args...> text, Args&&... args) {
  if (is_logged(level)) log_text(level, fmt::format(text, std::forward<Args>(args)...));
}

// From now on, lines of this level and above go to standard error, up to 16 MiB: error, warn, info, debug or
// off.
Status log_to_terminal(const std::string& level);
bool logs_to_terminal();

// While it lives, all lines go to the file `path`, up to 16 MiB. If the file cannot be made, nothing is
// logged.
class RunLog {
 public:
  explicit RunLog(const std::string& path);
  RunLog(RunLog&&) noexcept;
  RunLog& operator=(RunLog&&) = delete;
  ~RunLog();

 private:
  struct File;
  std::shared_ptr<File> file_;
};

}  // namespace rankfault
