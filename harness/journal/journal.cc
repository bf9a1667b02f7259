#include "harness/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/base/log.h"
#include "harness/base/mask.h"

namespace rankfault {

constexpr off_t kReserved = 256 * 1024;

Result<Journal> Journal::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error("create " + path);
  // Reserves room, so that a disk that fills while the job runs does not cost the run its last lines. Not
  // every file system can do it.
  (void)::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, kReserved);
  return Journal(UniqueFd(fd));
}

namespace {

// Returns 0, or the errno of the failed write. Removes a line that was written in part.
int append(int fd, const std::string& text) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  for (size_t written = 0; written < text.size();) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int why = n < 0 ? errno : ENOSPC;
      return end >= 0 && ::ftruncate(fd, end) != 0 ? errno : why;
    }
    written += static_cast<size_t>(n);
  }
  return 0;
}

bool is_text(const Json& of, const char* key) {
  const auto it = of.find(key);
  return it != of.end() && it->is_string();
}

// Of a finding, its kind and text; of another list or object, its size.
std::string in_words_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  if (is_text(value, "kind") && is_text(value, "text"))
    return fmt::format("{}: {}", value["kind"].get<std::string>(), value["text"].get<std::string>());
  return fmt::format("[{}]", value.size());
}

// One line of tool.log.
std::string in_words(const Json& line) {
  constexpr size_t kLongest = 160;
  std::string out = fmt::format("{} {}:", line["n"].get<uint64_t>(), line["ev"].get<std::string>());
  for (const auto& [key, value] : line.items()) {
    if (key == "n" || key == "t" || key == "ev") continue;
    out += fmt::format(" {}={}", key, in_words_of(value).substr(0, kLongest));
  }
  return out;
}

}  // namespace

uint64_t Journal::write(const std::string& ev, const Json& keys, Instant when) {
  Json line = {{"n", ++lines_}, {"t", when}, {"ev", ev}};
  line.update(keys);
  mask(line);
  const int refused = append(fd_.get(), line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (refused != 0 && lost_++ == 0) why_lost_ = std::strerror(refused);
  if (is_logged(LogLevel::kInfo)) log_text(LogLevel::kInfo, in_words(line));
  return lines_;
}

void Journal::give_back_room() {
  const off_t end = ::lseek(fd_.get(), 0, SEEK_END);
  if (end >= 0 && ::ftruncate(fd_.get(), end) != 0) return;  // then the file keeps the room
}

Result<JournalLines> read_journal(const std::string& path) {
  std::ifstream in(path);
  if (!in) return errno_error("open " + path);
  JournalLines lines;
  std::string text;
  for (uint64_t number = 0; std::getline(in, text);) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() && in.peek() == std::char_traits<char>::eof()) break;  // torn: the tool died
    Result<JournalLine> line = journal_line(json);
    if (!line || line->n <= number)  // the numbers grow; a lost line leaves a gap
      return Error{ErrorKind::kUnjudged,
                   fmt::format("rankfault did not write this line: the journal was changed ({})",
                               line ? "its number is not above the one before it" : line.error().message),
                   {path, static_cast<int>(lines.size()) + 1, 1}};
    number = line->n;
    lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace rankfault
