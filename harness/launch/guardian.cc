// guardian.cc: see guardian.h. The only file that uses Boost.Process (version 1, as in Boost 1.74).
#include "harness/launch/guardian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/base/process_tree.h"
#include "harness/launch/guardian/own_mounts.h"
#include "harness/launch/inherited.h"
#include "harness/launch/task_environment.h"

namespace rankfault {
namespace {

constexpr Duration kQuitLimit = 60s;
constexpr Duration kQuitTakesLong = 5s;
constexpr int kPollMs = 100;

// Only for an unreaped child of ours, so that no other process can have its pid.
bool continue_child(int pid) {
  const auto stat = proc_stat(pid);
  return stat && stat->state == 'T' && ::kill(pid, SIGCONT) == 0;
}

// Waits for our child's end and reaps it.
void wait_for_child(int pid, Duration limit) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{fd.get(), POLLIN, 0};
  const Instant deadline = HostClock::now() + limit;
  while (fd.valid() && HostClock::now() < deadline && ::poll(&ended, 1, kPollMs) == 0) continue_child(pid);
  ::waitpid(pid, nullptr, WNOHANG);
}

GuardianEvent::Kind kind_of(uint32_t message) {
  using Kind = GuardianEvent::Kind;
  switch (message) {
    case RF_G_SPAWNED:
      return Kind::kSpawned;
    case RF_G_REFUSED:
      return Kind::kRefused;
    case RF_G_ENDED:
      return Kind::kEnded;
    case RF_G_ALL_GONE:
      return Kind::kAllGone;
    case RF_G_CENSUS_DONE:
      return Kind::kCensusDone;
    case RF_G_UNDONE:
      return Kind::kUndone;
    case RF_G_LOADED:
      return Kind::kLoaded;
    default:
      return Kind::kLost;
  }
}

// A watched job reads the tool's standard input. Not if it is a terminal: the job would take the keys of the
// shell.
std::unique_ptr<FILE, int (*)(FILE*)> input_of_job(const RunDir& run) {
  const bool ours =
      run.kind() == RunKind::kWatch && ::fcntl(STDIN_FILENO, F_GETFD) >= 0 && !::isatty(STDIN_FILENO);
  const int fd = ours ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return {fd >= 0 ? ::fdopen(fd, "r") : nullptr, ::fclose};
}

// The child's pid. `socket` stays open across exec in this child only.
Result<int> launch(const std::string& program, int socket, const RunDir& run,
                   const std::vector<SmallFolder>& folders) {
  namespace bp = boost::process;
  std::error_code error;
  std::vector<std::string> args{std::to_string(socket), run.control(), run.undo(), run.path(), run.tmp(),
                                to_text(run.kind())};
  for (const SmallFolder& folder : folders) {
    args.push_back(folder.path);
    args.push_back(std::to_string(folder.bytes));
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> input = input_of_job(run);
  if (!input) return errno_error("open the job's input");
  try {
    bp::child child(
        bp::exe = program, bp::args = args, bp::std_in<input.get(), bp::std_out> bp::null,
        bp::std_err > run.file("logs/guardian.log"), error, bp::extend::on_exec_setup = [socket](auto&) {
          keep_inherited_descriptors();
          ::fcntl(socket, F_SETFD, 0);
        });
    if (error) return refused(fmt::format("start {}: {}", program, error.message()));
    const int pid = child.id();
    child.detach();
    return pid;
  } catch (const std::exception& e) {
    return refused(fmt::format("start {}: {}", program, e.what()));
  }
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string line, last = "it printed nothing";
  while (std::getline(file, line)) last = line;
  return last;
}

}  // namespace

// Tried in a child, whose name space ends with it.
Status may_mount() {
  const int pid = ::fork();
  if (pid == 0) ::_exit(rf_own_mounts() == 0 && rf_mount_small("/dev/shm", 4096) == 0 ? 0 : errno);
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return errno_error("fork");
  if (status == 0) return Done{};
  return missing(
      fmt::format("the job needs a small file system of its own, and mounting one is not permitted here ({})",
                  std::strerror(WEXITSTATUS(status))));
}

std::string find_guardian() {
  if (const char* given = std::getenv("RANKFAULT_GUARDIAN")) return given;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto program = self.parent_path() / "rankfault-guardian";
  return !error && ::access(program.c_str(), X_OK) == 0 ? program.string() : "";
}

Result<Guardian> Guardian::start(const RunDir& run, const std::vector<SmallFolder>& folders) {
  const std::string program = find_guardian();
  if (program.empty())
    return refused(
        "rankfault-guardian is not in the folder of rankfault (RANKFAULT_GUARDIAN names another place)");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno_error("socketpair");
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const int size = RF_GUARDIAN_PACKET;  // a packet must fit whole
  ::setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  Result<int> pid = launch(program, theirs.get(), run, folders);
  if (!pid.ok()) return pid.error();
  theirs.reset();
  Guardian guardian(std::move(ours), *pid);
  // Its first answer means that it is the subreaper now.
  if (!guardian.census(30s).ok())
    return refused("the guardian did not start: " + last_line(run.file("logs/guardian.log")));
  return guardian;
}

Guardian::Guardian(Guardian&& other) noexcept
    : socket_(std::move(other.socket_)),
      pid_(std::exchange(other.pid_, 0)),
      lost_(other.lost_),
      times_stopped_(other.times_stopped_),
      censuses_(other.censuses_),
      lines_(std::move(other.lines_)),
      early_(std::move(other.early_)) {}

Guardian::~Guardian() {
  socket_.reset();
  if (pid_ > 0) wait_for_child(pid_, kQuitLimit);
}

Status Guardian::send(const rf_guardian_packet& packet, const std::string& texts) {
  std::string bytes(reinterpret_cast<const char*>(&packet), sizeof packet);
  bytes += texts;
  if (bytes.size() > RF_GUARDIAN_PACKET)
    return usage_error(fmt::format("the command and the environment are too long: {} bytes, at most {}",
                                   bytes.size(), RF_GUARDIAN_PACKET));
  ssize_t sent;
  do sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return errno_error("send to the guardian");
  return Done{};
}

Status Guardian::spawn(uint32_t tag, const Command& command) {
  RF_ASSERT(!command.argv.empty(), "a command has at least a program");
  std::error_code error;
  const std::string cwd = std::filesystem::absolute(command.cwd, error).string();
  std::string texts;
  const auto add = [&texts](const std::string& text) {
    texts.append(text.c_str(), std::strlen(text.c_str()) + 1);
  };
  add(command.cwd.empty() ? std::filesystem::current_path(error).string() : cwd);
  add(command.stdout_path);
  add(command.stderr_path);
  for (const std::string& word : command.argv) add(word);
  for (const auto& [name, value] : command.env) add(name + "=" + value);
  rf_guardian_packet packet{};
  packet.message = RF_G_SPAWN;
  packet.tag = tag;
  packet.a = static_cast<int>(command.argv.size());
  packet.b = static_cast<int>(command.env.size());
  packet.flags = command.env.count(RF_TASK_DIR) ? RF_SPAWN_FAR : 0;
  return send(packet, texts);
}

Status Guardian::kill_all(int first_signal, Duration grace) {
  rf_guardian_packet packet{};
  packet.message = RF_G_KILL;
  packet.a = first_signal;
  packet.time_ns = ns_of(grace);
  return send(packet, "");
}

Status Guardian::census(Duration limit) {
  rf_guardian_packet packet{};
  packet.message = RF_G_CENSUS;
  packet.tag = ++censuses_;
  if (Status asked = send(packet, ""); !asked.ok()) return asked;
  const Instant deadline = HostClock::now() + limit;
  for (Instant now = HostClock::now(); !lost_ && now < deadline; now = HostClock::now()) {
    pollfd readable{socket_.get(), POLLIN, 0};
    ::poll(&readable, 1, std::min(kPollMs, static_cast<int>((deadline - now) / 1ms) + 1));
    continue_if_stopped();
    while (auto event = receive()) {
      if (event->kind == GuardianEvent::Kind::kCensusDone && event->tag == censuses_) return Done{};
      early_.push_back(std::move(*event));
    }
  }
  return refused("the guardian did not look at the job's files in time");
}

void Guardian::continue_if_stopped() {
  if (pid_ > 0 && continue_child(pid_)) ++times_stopped_;
}

Status Guardian::load(uint32_t tag, int pid, int per_core) {
  rf_guardian_packet packet{};
  packet.tag = tag;
  packet.message = RF_G_LOAD;
  packet.pid = pid;
  packet.a = per_core;
  return send(packet, "");
}

Status Guardian::unload() {
  if (Status asked = load(0, 0, 0); !asked.ok()) return asked;
  while (const auto event = wait_for(GuardianEvent::Kind::kLoaded, kQuitLimit))
    if (event->a == 0) return Done{};
  return refused("the guardian did not end its busy processes");
}

std::optional<GuardianEvent> Guardian::next() {
  if (early_.empty()) return receive();
  GuardianEvent event = std::move(early_.front());
  early_.pop_front();
  return event;
}

std::optional<GuardianEvent> Guardian::receive() {
  if (lost_ || !socket_.valid()) return std::nullopt;
  std::array<char, RF_GUARDIAN_PACKET> buffer;  // not cleared, because this runs at each tick
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  GuardianEvent event;
  event.time = HostClock::now();
  rf_guardian_packet packet;
  if (n < static_cast<ssize_t>(sizeof packet)) {
    lost_ = true;
    return event;
  }
  std::memcpy(&packet, buffer.data(), sizeof packet);
  if (packet.message == RF_G_LINES) {
    lines_.append(buffer.data() + sizeof packet, static_cast<size_t>(n) - sizeof packet);
    return receive();
  }
  event.kind = kind_of(packet.message);
  event.tag = packet.tag;
  event.pid = packet.pid;
  event.start = packet.start_time;
  event.a = packet.a;
  event.b = packet.b;
  event.time = instant_of(packet.time_ns);
  event.text.assign(buffer.data() + sizeof packet, static_cast<size_t>(n) - sizeof packet);
  while (!event.text.empty() && event.text.back() == 0) event.text.pop_back();
  if (event.kind == GuardianEvent::Kind::kUndone) event.text.insert(0, std::exchange(lines_, {}));
  return event;
}

std::optional<GuardianEvent> Guardian::wait_for(GuardianEvent::Kind kind, Duration limit,
                                                const std::function<void(const std::string&)>& says) {
  const Instant began = HostClock::now(), deadline = began + limit;
  bool said = !says;
  while (HostClock::now() < deadline) {
    pollfd readable{socket_.get(), POLLIN, 0};
    ::poll(&readable, 1, early_.empty() ? kPollMs : 0);
    continue_if_stopped();
    if (!said && HostClock::now() > began + kQuitTakesLong) {
      said = true;
      says(fmt::format("waiting for rankfault-guardian (process {}) to end the job and clean up", pid_));
    }
    while (auto event = next()) {
      if (event->kind == kind) return event;
      if (event->kind == GuardianEvent::Kind::kLost) return std::nullopt;
    }
    if (lost_) return std::nullopt;
  }
  return std::nullopt;
}

Status Guardian::end_all(int first_signal, Duration grace) {
  if (Status asked = kill_all(first_signal, grace); !asked.ok()) return asked;
  if (wait_for(GuardianEvent::Kind::kAllGone, kQuitLimit, {})) return Done{};
  return refused("the guardian did not end the job");
}

Undone read_undone(const std::string& lines) {
  Undone out;
  for (size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = lines.substr(at, end - at);
    const size_t blank = line.find(' ');
    (line.starts_with("left ") ? out.left : out.failed).push_back(line.substr(blank + 1));
  }
  return out;
}

Result<Undone> Guardian::quit(JobEnd end, const std::function<void(const std::string&)>& says) {
  rf_guardian_packet packet{};
  packet.message = RF_G_QUIT;
  packet.a = end == JobEnd::kEndedByItself;
  if (Status asked = send(packet, ""); !asked.ok()) return asked.error();
  const auto undone = wait_for(GuardianEvent::Kind::kUndone, kQuitLimit, says);
  if (!undone)
    return Error{ErrorKind::kInternal, "the guardian ended before it undid the changes of the run", {}};
  wait_for_child(std::exchange(pid_, 0), kQuitLimit);
  return read_undone(undone->text);
}

bool descends_from(int pid, uint64_t start, int guardian_pid) {
  auto stat = proc_stat(pid);
  if (!stat || stat->start != start) return false;
  for (int steps = 0; stat && stat->parent > 0 && steps < 4096; ++steps) {
    if (stat->parent == guardian_pid) return true;
    stat = proc_stat(stat->parent);
  }
  return false;
}

}  // namespace rankfault
