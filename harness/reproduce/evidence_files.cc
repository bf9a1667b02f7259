#include "harness/reproduce/evidence_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "harness/base/file_text.h"
#include "harness/flight_recorder/read_dumps.h"
#include "harness/reproduce/recorded.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostFiles = 100'000;
constexpr int kDeepest = 4;  // torchrun writes LOG_DIR/JOB/attempt_0/RANK/stderr.log

// Regular files below a folder, sorted; links are not followed.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    std::error_code none;
    if (at->is_regular_file(none) && !at->is_symlink(none) && files.size() < kMostFiles)
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A log of JSON lines begins as a dump in JSON does: only its reading shows the difference.
bool is_dump(const FrSource& source) {
  std::ifstream in(source.path);
  if (in.get() != '{') return true;
  return read_dump(source, {}, [](FrEntry&) -> Status { return Done{}; }).ok();
}

std::set<std::string> dumps_among(const std::string& path) {
  std::set<std::string> dumps;
  if (const Result<FrSources> found = find_dumps({path}))
    for (const FrSource& source : found->sources)
      if (is_dump(source)) dumps.insert(source.path);
  return dumps;
}

// A folder below that holds dumps; "": none.
std::string folder_with_dumps(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->is_directory(none) && !at->is_symlink(none) && !dumps_among(at->path()).empty())
      return at->path();
  }
  return "";
}

uint64_t mixed(uint64_t digest, uint64_t word) { return (digest ^ word) * 0x9e3779b97f4a7c15ull; }

uint64_t size_of(const std::string& file) {
  std::error_code none;
  const uint64_t size = fs::file_size(file, none);
  return none ? 0 : size;
}

}  // namespace

Result<EvidenceFiles> evidence_files(const std::vector<std::string>& paths) {
  EvidenceFiles found;
  uint64_t all = 1;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status what = fs::status(path, error);
    if (error || !fs::exists(what)) return errno_error("open " + path, error ? error.value() : ENOENT);
    const bool folder = fs::is_directory(what);
    if (!folder && !fs::is_regular_file(what)) return usage_error(path + " is neither a file nor a folder");
    const std::vector<std::string> files = folder ? files_below(path) : std::vector<std::string>{path};
    CaseEvidence entry{.path = path};
    uint64_t digest = 1;
    for (const std::string& file : files) {
      digest = mixed(digest, hash_of_file(file));
      entry.bytes += size_of(file);
    }
    if (folder && is_run_directory(path)) {
      entry.kind = "run";
      found.runs.push_back(path);
    } else {
      const std::set<std::string> dumps = dumps_among(path);
      entry.kind = dumps.empty() ? "log" : "flight_recorder";
      if (!dumps.empty()) found.dumps.push_back(path);
      if (dumps.empty() && folder)
        if (const std::string inside = folder_with_dumps(path); !inside.empty())
          return usage_error(
              fmt::format("no file in {} is a dump, but {} has some: name that folder", path, inside));
      std::copy_if(files.begin(), files.end(), std::back_inserter(found.logs),
                   [&](const std::string& file) { return dumps.count(file) == 0; });
    }
    entry.digest = fmt::format("{:016x}", digest);
    all = mixed(all, digest);
    found.list.push_back(std::move(entry));
  }
  found.digest = fmt::format("{:016x}", all);
  return found;
}

}  // namespace rankfault
