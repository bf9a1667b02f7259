#include "harness/launch/rank_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "harness/agent/agent_abi.h"
#include "harness/base/file_text.h"
#include "harness/base/last_words.h"
#include "harness/base/mask.h"
#include "harness/base/printable.h"
#include "harness/base/unique_fd.h"
#include "harness/launch/error_file.h"
#include "harness/launch/gather.h"
#include "harness/symbols/python_traceback.h"

namespace rankfault {

namespace {

constexpr size_t kWords = 5, kColumns = 200, kMostOfALine = 2000;
constexpr size_t kBehind = 20;   // more lines behind a traceback: the program went on
constexpr size_t kTail = 32768;  // a traceback through many libraries is long

// torchrun and Open MPI 5 name the two files "stdout" and "stderr"; with other launchers one file has both.
std::string errors_beside(const std::string& output) {
  const size_t at = output.rfind("stdout");
  if (at == std::string::npos || output.find('/', at) != std::string::npos) return output;
  std::string errors = output;
  errors.replace(at, 6, "stderr");
  struct stat st {};
  return ::stat(errors.c_str(), &st) == 0 && st.st_size > 0 ? errors : output;
}

bool is_shared(const std::string& log) { return log.substr(log.rfind('/') + 1).starts_with("launcher."); }

}  // namespace

namespace {

std::vector<std::string> written_lines(const std::string& ring_path) {
  const UniqueFd fd(::open(ring_path.c_str(), O_RDONLY | O_CLOEXEC));
  rf_header header;
  if (!fd.valid() || ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
    return {};
  if (header.magic != RF_RING_MAGIC || header.abi_version != RF_ABI_VERSION) return {};
  const std::string file(header.output, ::strnlen(header.output, sizeof header.output));
  if (file.empty()) return {};
  std::vector<std::string> words = last_lines(errors_beside(file), header.rank);
  if (is_shared(file)) words.resize(is_exception(words) ? 2 : 0);
  return words;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      lines.push_back(printable(line.substr(0, kMostOfALine)));
  return lines;
}

// Ends a long line at a blank, so that no word is cut in two.
std::string cut(std::string line) {
  if (line.size() <= kColumns) return line;
  const size_t blank = line.rfind(' ', kColumns);
  line.resize(blank == std::string::npos || blank < kColumns / 2 ? kColumns : blank);
  return line + " [...]";
}

}  // namespace

std::vector<std::string> last_words(const std::string& ring_path, const std::string& error_file) {
  std::vector<std::string> words = written_lines(ring_path);
  if (is_exception(words)) return words;
  const auto recorded = python_traceback(lines_in(traceback_in(error_file)));
  if (!recorded) return words;
  words.insert(words.begin(), {cut(recorded->exception), cut(kRaisedIn + python_text(recorded->frames))});
  words.resize(std::min(words.size(), kWords));
  return words;
}

// Masks the text as a whole: a value may be on another line than its name, and a cut line shows half of one.
std::vector<std::string> last_lines(const std::string& file, int rank) {
  std::vector<std::string> lines = lines_in(masked_text(tail_of_file(file, kTail)));
  // All ranks of a command write to one log. Only a traceback with the rank's prefix is known to be its own.
  if (rank >= 0 && is_shared(file))
    std::erase_if(lines, [own = fmt::format("[rank{}]:", rank)](const std::string& line) {
      return !line.starts_with(own);
    });
  std::vector<std::string> words;
  if (const auto traceback = python_traceback(lines, rank);
      traceback && traceback->behind.size() <= kBehind) {
    words = {traceback->exception, kRaisedIn + python_text(traceback->frames)};
    lines = traceback->behind;
  }
  const size_t room = std::min(kWords - words.size(), lines.size());
  words.insert(words.end(), lines.end() - static_cast<ptrdiff_t>(room), lines.end());
  for (std::string& word : words) word = cut(std::move(word));
  return words;
}

std::vector<RankOutput> rank_outputs(const std::string& records) {
  std::vector<RankOutput> outputs;
  for (const std::string& path : files_matching(records + "/*.ring")) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    rf_header header;
    if (!fd.valid() || ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
      continue;
    if (header.magic != RF_RING_MAGIC || header.abi_version != RF_ABI_VERSION || header.rank < 0) continue;
    const std::string file(header.output, ::strnlen(header.output, sizeof header.output));
    if (!file.empty()) outputs.push_back({header.rank, header.attempt, file});
  }
  return outputs;
}

}  // namespace rankfault
