#include "harness/base/log.h"

#define SPDLOG_FMT_EXTERNAL  // Debian's spdlog uses Debian's fmt
#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string_view>

#include "harness/base/unique_fd.h"

namespace rankfault {
namespace {

constexpr size_t kMost = 16 << 20;  // a job of weeks must not fill the disk

spdlog::level::level_enum level_of(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<int>(level)];
}

// spdlog's own file sinks open files that a started program inherits, and throw when the disk is full.
class DescriptorSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  DescriptorSink(UniqueFd fd, const std::string& pattern) : fd_(std::move(fd)) { set_pattern_(pattern); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (written_ > kMost) return;
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    constexpr std::string_view kFull = "the log is full: nothing more is written\n";
    if ((written_ += text.size()) > kMost) text.append(kFull.data(), kFull.data() + kFull.size());
    [[maybe_unused]] const ssize_t done = ::write(fd_.get(), text.data(), text.size());
  }
  void flush_() override {}

 private:
  UniqueFd fd_;
  size_t written_ = 0;
};

struct Log {
  std::shared_ptr<spdlog::sinks::dist_sink_mt> places = std::make_shared<spdlog::sinks::dist_sink_mt>();
  spdlog::logger logger{"rankfault", places};

  Log() {
    logger.set_level(spdlog::level::off);  // until there is a place
    logger.set_error_handler([](const std::string&) {});
  }
  void add(std::shared_ptr<spdlog::sinks::sink> place, spdlog::level::level_enum level) {
    place->set_level(level);
    places->add_sink(std::move(place));
    logger.set_level(std::min(logger.level(), level));
  }
};

// Never destroyed: a destructor of a static object may log.
Log& the_log() {
  static Log* const log = new Log;
  return *log;
}

bool g_logs_to_terminal = false;

}  // namespace

bool is_logged(LogLevel level) { return the_log().logger.should_log(level_of(level)); }
void log_text(LogLevel level, const std::string& text) { the_log().logger.log(level_of(level), text); }

Status log_to_terminal(const std::string& level) {
  if (level == "off") return Done{};
  const auto wanted = spdlog::level::from_str(level);
  const auto known = {spdlog::level::err, spdlog::level::warn, spdlog::level::info, spdlog::level::debug};
  if (std::find(known.begin(), known.end(), wanted) == known.end())
    return usage_error("--log-level " + level + ": write error, warn, info, debug or off", {});
  UniqueFd terminal(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  the_log().add(std::make_shared<DescriptorSink>(std::move(terminal), "rankfault %l: %v"), wanted);
  g_logs_to_terminal = true;
  return Done{};
}

bool logs_to_terminal() { return g_logs_to_terminal; }

struct RunLog::File : DescriptorSink {
  using DescriptorSink::DescriptorSink;
};

RunLog::RunLog(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid()) return;
  file_ = std::make_shared<File>(std::move(fd), "%Y-%m-%d %H:%M:%S.%f %-5l %v");
  the_log().add(file_, spdlog::level::debug);
}

RunLog::RunLog(RunLog&&) noexcept = default;

RunLog::~RunLog() {
  if (file_) the_log().places->remove_sink(file_);
}

}  // namespace rankfault
