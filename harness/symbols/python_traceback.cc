#include "harness/symbols/python_traceback.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>

#include "harness/base/last_words.h"

namespace rankfault {
namespace {

constexpr std::array<std::string_view, 4> kHarmless = {"Exception ignored", "Exception in thread",
                                                       "--- Logging error ---", "Error in atexit"};

// "[rank1]: text" is "text". Nothing for a line of another rank.
std::optional<std::string> without_prefix(const std::string& line, int rank) {
  static const std::string kRank = "[rank";
  if (line.rfind(kRank, 0) != 0) return line;
  const size_t end = line.find("]:");
  if (end == std::string::npos || end > kRank.size() + 9) return line;
  if (rank >= 0 && line.substr(kRank.size(), end - kRank.size()) != std::to_string(rank)) return {};
  const size_t text = end + 2;
  return line.substr(text < line.size() && line[text] == ' ' ? text + 1 : text);
}

bool begins_traceback(const std::string& line) { return line == "Traceback (most recent call last):"; }

// What Python prints before a traceback that ends no program.
bool ends_nothing(const std::string& line) {
  return std::any_of(kHarmless.begin(), kHarmless.end(),
                     [&](const std::string_view head) { return line.rfind(head, 0) == 0; });
}

// `  File "/job/train.py", line 31, in evaluate`; a syntax error has no function, and faulthandler writes no
// comma behind the number.
std::optional<CallFrame> frame_of(const std::string& line) {
  if (line.rfind("  File \"", 0) != 0) return {};
  static const std::regex kFrame(R"re(^  File "([^"]+)", line (\d{1,9})(?:,? in (.+))?$)re");
  std::smatch match;
  if (!std::regex_match(line, match, kFrame)) return {};
  return CallFrame{match[1], match[3].matched ? std::string(match[3]) : "<module>", std::stoi(match[2])};
}

using Lines = std::vector<std::string>;

// Faulthandler writes a head, an empty line, and one list of frames for each thread, the innermost first.
// The list of the thread that got the signal begins with "Current thread". The lines behind the lists belong
// to the report ("Extension modules: ...").
std::optional<PythonTraceback> fatal_error_in(const Lines& lines) {
  const auto head = std::find_if(lines.rbegin(), lines.rend(),
                                 [](const std::string& line) { return line.starts_with(kFatalError); });
  if (head == lines.rend()) return {};
  PythonTraceback found{*head, {}, {}};
  auto line = std::find_if(head.base(), lines.end(),
                           [](const std::string& text) { return text.starts_with("Current thread "); });
  for (; line != lines.end() && (found.frames.empty() || frame_of(*line)); ++line)
    if (auto frame = frame_of(*line)) found.frames.push_back(std::move(*frame));
  if (found.frames.empty()) return {};
  return found;
}

}  // namespace

std::optional<PythonTraceback> python_traceback(const std::vector<std::string>& lines, int rank) {
  std::vector<std::string> plain;
  for (const std::string& line : lines)
    if (auto text = without_prefix(line, rank)) plain.push_back(std::move(*text));
  auto last = std::find_if(plain.rbegin(), plain.rend(), begins_traceback);
  while (last != plain.rend() && std::next(last) != plain.rend() && ends_nothing(*std::next(last)))
    last = std::find_if(std::next(last), plain.rend(), begins_traceback);
  // The lines behind the last traceback; all lines if there is none.
  if (auto fatal = fatal_error_in({last == plain.rend() ? plain.begin() : last.base(), plain.end()}))
    return fatal;
  if (last == plain.rend()) return {};
  PythonTraceback found;
  for (auto line = last.base(); line != plain.end(); ++line) {
    if (line->find("Exception Group Traceback") != std::string::npos) return {};
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
