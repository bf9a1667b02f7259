#include "harness/live/log_markers.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>
#include <vector>

namespace rankfault {
namespace {

// A progress bar rewrites its line forever; std::regex recurses for each character of a match.
constexpr size_t kLongestLine = 16384;

void journal_file(const std::string& path, const std::string& name, int rank, int attempt,
                  const std::vector<std::pair<const char*, std::regex>>& markers, Journal& journal) {
  std::ifstream in(path);
  uint64_t offset = 0;
  for (std::string line; std::getline(in, line); offset += line.size() + 1) {
    if (line.size() > kLongestLine) continue;
    for (const auto& [marker, expression] : markers) {
      std::smatch match;
      if (std::regex_search(line, match, expression))
        journal.write(events::LogMarker{.rank = rank,
                                        .attempt = attempt,
                                        .file = name,
                                        .offset = offset,
                                        .marker = marker,
                                        .text = match.size() > 1 ? match[1].str() : match[0].str()});
    }
  }
}

}  // namespace

void journal_log_markers(const Plan& plan, const RunDir& run, Journal& journal) {
  const Markers& m = plan.scenario.workload.markers;
  std::vector<std::pair<const char*, std::regex>> markers;
  for (const auto& [name, text] : {std::pair{"step_begin", m.step_begin},
                                   {"step_commit", m.step_commit},
                                   {"value", m.value},
                                   {"error", m.error}})
    if (!text.empty()) markers.emplace_back(name, std::regex(text));  // the parser has checked each
  if (markers.empty()) return;
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run.logs(), none))
    files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    int rank = 0, attempt = 0;
    if (std::sscanf(file.c_str(), "rank-%d.a%d.log", &rank, &attempt) == 2)
      journal_file(run.logs() + "/" + file, "logs/" + file, rank, attempt, markers, journal);
  }
}

}  // namespace rankfault
