#include "harness/run/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace rankfault {

Result<Journal> Journal::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error("create " + path);
  return Journal(UniqueFd(fd));
}

uint64_t Journal::write(const std::string& ev, Json fields) {
  Json line = {{"n", ++lines_}, {"t", now_ns()}, {"ev", ev}};
  line.update(fields);
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd_.get(), text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    RF_ASSERT(n > 0, "the journal cannot be written");
    written += static_cast<size_t>(n);
  }
  return lines_;
}

Result<std::vector<Json>> read_journal(const std::string& path) {
  std::ifstream in(path);
  if (!in) return errno_error("open " + path);
  std::vector<Json> lines;
  std::string text;
  while (std::getline(in, text)) {
    Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) {
      if (line.is_discarded() && in.peek() == std::char_traits<char>::eof())
        break;  // torn by the tool's death
      return usage_error("not a journal line", {path, static_cast<int>(lines.size()) + 1, 1});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace rankfault
