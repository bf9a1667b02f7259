// run_dir.cc: see run_dir.h.
#include "harness/run_dir/run_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "harness/base/mask.h"
#include "harness/base/time.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTmpStem = "rf.";
constexpr size_t kTmpLetters = 6;
// The path of a socket has room for 107 characters, and libraries append about 40 to TMPDIR.
constexpr size_t kLongestTmpdir = 56;

// Returns $TMPDIR without a trailing /, or "" if it is not a writable folder.
std::string users_tmpdir() {
  const char* given = std::getenv("TMPDIR");
  std::string path = given ? given : "";
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const bool usable = path.starts_with("/") && fs::is_directory(path, error) &&
                      ::access(path.c_str(), W_OK | X_OK) == 0 && path.find('\n') == std::string::npos;
  return usable ? path : "";
}

// Keeps letters, digits, '-' and '_': a scenario's name becomes part of a path.
std::string as_file_name(const std::string& name) {
  std::string result;
  for (const char c : name)
    result += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '-';
  return result.empty() ? "run" : result;
}

Result<std::string> make_fresh(const std::string& scenario_name) {
  const char* given = std::getenv("RANKFAULT_RUNS");
  const fs::path folder = fs::absolute(given && *given ? given : "rankfault-runs");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return errno_error(fmt::format("make {} (--runs DIR names another folder for runs)", folder.string()),
                       error.value());
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  const std::string stem = (folder / fmt::format("{}-{}", as_file_name(scenario_name), stamp)).string();
  for (int n = 0; n < 10000; ++n) {
    const std::string path = n == 0 ? stem : fmt::format("{}.{}", stem, n);
    if (::mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST)
      return errno_error(fmt::format("make {} (--runs DIR names another folder for runs)", path));
  }
  return refused("no free name for a run directory at " + stem);
}

Result<std::string> make_given(const std::string& given) {
  std::error_code error;
  fs::path path = fs::absolute(given, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  fs::create_directories(path.parent_path(), error);
  if (error) return errno_error("make " + path.parent_path().string(), error.value());
  if (::mkdir(path.c_str(), 0700) == 0) return path.string();
  if (errno == EEXIST)
    return refused(fmt::format("run directory {} already exists: name a new one", path.string()));
  return errno_error("make " + path.string());
}

Status append_line(const std::string& path, const std::string& line) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string text = line + "\n";
  if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return errno_error("write " + path);
  return Done{};
}

Duration realtime() { return std::chrono::system_clock::now().time_since_epoch(); }

std::string random_letters(size_t count) {
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string text;
  std::random_device random;
  while (text.size() < count) text += kLetters[random() % (sizeof kLetters - 1)];
  return text;
}

Status replace_json(const std::string& path, const Json& json, mode_t mode) {
  const std::string temp = path + ".part";
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  UniqueFd fd(::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.valid()) return errno_error("open " + temp);
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd.get(), text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) {
      const Error error = errno_error("write " + temp);
      ::unlink(temp.c_str());  // frees the room on a full disk
      return error;
    }
    if (n > 0) at += static_cast<size_t>(n);
  }
  if (::rename(temp.c_str(), path.c_str()) != 0) return errno_error("rename " + temp);
  return Done{};
}

}  // namespace

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

Result<std::string> make_run_folder(const std::string& path, const std::string& scenario_name) {
  return path.empty() ? make_fresh(scenario_name) : make_given(path);
}

const char* to_text(RunKind kind) { return kind == RunKind::kWatch ? "watch" : "run"; }

bool is_tmp_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return path.starts_with("/") && name.starts_with(kTmpStem) && name.size() == kTmpStem.size() + kTmpLetters;
}

Result<RunDir> RunDir::create(const std::string& path, const std::string& scenario_name, RunKind kind) {
  Result<std::string> made = make_run_folder(path, scenario_name);
  if (!made.ok()) return made.error();
  RunDir run;
  run.path_ = *made;
  run.kind_ = kind;
  if (const Status filled = run.fill(); !filled) {
    Error error = filled.error();
    if (const std::string left = run.discard(); !left.empty()) error.message += "; " + left;
    return error;
  }
  return run;
}

Status RunDir::fill() {
  lock_.reset(::open(file("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_.valid() || ::flock(lock_.get(), LOCK_EX) != 0) return errno_error("lock " + file("lock"));
  for (const std::string& folder : {records(), logs()})
    if (::mkdir(folder.c_str(), 0700) != 0) return errno_error("make " + folder);
  state_ = {{"state", "incomplete"},
            {"kind", to_text(kind_)},
            {"tmp", ""},
            {"tmp_dev", 0},
            {"tmp_ino", 0},
            {"boot", boot_id()},
            {"began_ns", HostClock::now()},
            {"began_realtime_ns", realtime()},
            {"tool", ::getpid()}};
  return make_tmp();
}

// Writes the name to disk, then makes the directory, then writes the line that removes it, and its inode. If
// the tool is killed in between, an empty directory is left, and `clean` knows its name.
Status RunDir::make_tmp() {
  const std::string users = users_tmpdir();
  // If the user's TMPDIR does not fit, the job keeps it unchanged. A preloaded file may lie in the folder,
  // and these characters would end its path.
  const bool fits = users.size() <= kLongestTmpdir && users.find_first_of(" :;\t") == std::string::npos;
  const std::string folder = users.empty() || !fits || kind_ == RunKind::kWatch ? "/tmp" : users;
  for (int tries = 0; tries < 100; ++tries) {
    state_["tmp"] = tmp_ = fmt::format("{}/{}{}", folder, kTmpStem, random_letters(kTmpLetters));
    if (fits && kind_ == RunKind::kRun) job_tmpdir_ = tmp_;
    if (Status written = write_state(); !written.ok()) return written;
    if (::mkdir(tmp_.c_str(), 0700) == 0) {
      struct stat tmp {};
      ::stat(tmp_.c_str(), &tmp);
      state_["tmp_dev"] = tmp.st_dev;
      state_["tmp_ino"] = tmp.st_ino;
      // As RF_UNDO_DIR of the guardian's undo_entry.h.
      if (Status noted = append_line(undo(), "remove-dir " + tmp_); !noted.ok()) return noted;
      return write_state();
    }
    if (errno != EEXIST) return errno_error("make " + tmp_);
  }
  return refused("no free name for a temporary directory in " + folder);
}

Status RunDir::write_json(const std::string& name, const Json& json) const {
  return replace_json(file(name), masked(json), 0644);
}

Status RunDir::write_secret_json(const std::string& name, const Json& json) const {
  return replace_json(file(name), json, 0600);
}

// Does not mask: `clean` needs the exact paths.
Status RunDir::write_state() const { return replace_json(file("state.json"), state_, 0644); }

RunDir RunDir::planned() {
  RunDir dir;
  dir.path_ = "RUN";
  dir.tmp_ = dir.job_tmpdir_ = "TMP";
  return dir;
}

Status RunDir::complete() {
  state_["state"] = "complete";
  return write_state();
}

std::string RunDir::discard() {
  struct stat now {};
  const bool is_ours = !tmp_.empty() && ::lstat(tmp_.c_str(), &now) == 0 &&
                       now.st_dev == state_.value("tmp_dev", dev_t{0}) &&
                       now.st_ino == state_.value("tmp_ino", ino_t{0});
  if (is_ours && ::rmdir(tmp_.c_str()) != 0)
    return fmt::format("{} is left: rankfault clean {} removes it", tmp_, path_);
  std::error_code error;
  fs::remove_all(path_, error);
  return error ? fmt::format("{} is left: {}", path_, error.message()) : "";
}

RunState run_state(const std::string& run_dir) {
  const Result<Json> state = read_json(run_dir + "/state.json");
  if (state.ok() && state->is_object() && state->value("state", "") == "complete") return RunState::kComplete;
  // A shared lock: two readers at the same time do not take each other for the tool.
  UniqueFd lock(::open((run_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 ? RunState::kLive : RunState::kDead;
}

Result<Json> read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return errno_error("open " + path);
  std::stringstream text;
  text << file.rdbuf();
  try {
    return Json::parse(text.str());
  } catch (const Json::exception& e) {
    return usage_error(fmt::format("{} is not JSON: {}", path, e.what()));
  }
}

}  // namespace rankfault
