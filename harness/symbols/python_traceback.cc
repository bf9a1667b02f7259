#include "harness/symbols/python_traceback.h"

#include <algorithm>
#include <regex>

namespace rankfault {
namespace {

// "[rank1]: text" is "text". "[default0]:" is a prefix of torchrun's own.
std::string without_prefix(const std::string& line) {
  static const std::regex kPrefix(R"(^(\[[A-Za-z]+\d+\]: ?)+)");
  return std::regex_replace(line, kPrefix, "", std::regex_constants::format_first_only);
}

bool begins_traceback(const std::string& line) { return line == "Traceback (most recent call last):"; }

// `  File "/job/train.py", line 31, in evaluate`; a syntax error has no function.
std::optional<CallFrame> frame_of(const std::string& line) {
  static const std::regex kFrame(R"re(^  File "([^"]+)", line (\d{1,9})(?:, in (.+))?$)re");
  std::smatch match;
  if (!std::regex_match(line, match, kFrame)) return {};
  return CallFrame{match[1], match[3].matched ? std::string(match[3]) : "<module>", std::stoi(match[2])};
}

}  // namespace

std::optional<PythonTraceback> python_traceback(const std::vector<std::string>& lines) {
  std::vector<std::string> plain;
  for (const std::string& line : lines) plain.push_back(without_prefix(line));
  const auto last = std::find_if(plain.rbegin(), plain.rend(), begins_traceback);
  if (last == plain.rend()) return {};
  PythonTraceback found;
  for (auto line = last.base(); line != plain.end(); ++line) {
    if (!found.exception.empty())
      found.behind.push_back(*line);
    else if (auto frame = frame_of(*line))
      found.frames.insert(found.frames.begin(), std::move(*frame));
    else if (!line->empty() && line->front() != ' ')  // the source and its marks are indented
      found.exception = *line;
  }
  if (found.exception.empty() || found.frames.empty()) return {};
  return found;
}

}  // namespace rankfault
