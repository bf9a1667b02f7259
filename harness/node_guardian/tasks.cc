#include "harness/node_guardian/tasks.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "harness/launch/task_environment.h"

namespace rankfault {
namespace {

// "begin PID START" or "end PID START STATUS"; false: neither.
bool read_packet(const char* text, TaskNews& news) {
  TaskMessage& task = news.task;
  if (std::sscanf(text, "begin %d %" SCNu64, &task.pid, &task.start) == 2) return true;
  task.ended = true;
  return std::sscanf(text, "end %d %" SCNu64 " %d", &task.pid, &task.start, &news.wait_status) == 3;
}

}  // namespace

Result<Tasks> Tasks::listen(const std::string& dir) {
  const std::string path = dir + RF_TASK_SOCKET;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return usage_error(path + " is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::unlink(path.c_str());  // of a guardian that was killed
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), 512) != 0)
    return errno_error("cannot listen at " + path, errno);
  return Tasks(std::move(fd));
}

void Tasks::add_polls(std::vector<pollfd>& polls) const {
  polls.push_back({socket_.get(), POLLIN, 0});
  for (const Connected& c : connections_) polls.push_back({c.fd.get(), POLLIN, 0});
}

// False: it is closed.
bool Tasks::read(Connected& c, std::vector<TaskNews>& news) {
  char text[RF_TASK_PACKET + 1];
  for (;;) {
    const ssize_t n = ::recv(c.fd.get(), text, sizeof text - 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n <= 0) return false;
    text[n] = 0;
    TaskNews one;
    if (!read_packet(text, one)) return false;
    c.waits = one.task.ended;
    news.push_back(one);
  }
}

std::vector<TaskNews> Tasks::take() {
  std::vector<TaskNews> news;
  for (;;) {
    UniqueFd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) break;
    connections_.push_back({std::move(fd), false});
  }
  std::erase_if(connections_, [&](Connected& c) { return !read(c, news); });
  return news;
}

bool Tasks::any_waits() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const Connected& c) { return c.waits; });
}

bool Tasks::all_wait() const {
  return !connections_.empty() &&
         std::all_of(connections_.begin(), connections_.end(), [](const Connected& c) { return c.waits; });
}

void Tasks::answer() {
  for (Connected& c : connections_)
    if (std::exchange(c.waits, false)) (void)::send(c.fd.get(), "ok", 2, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace rankfault
