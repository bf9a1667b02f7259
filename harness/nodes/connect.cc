// connect: how a node reaches the tool and proves the run's key.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "harness/nodes/address.h"
#include "harness/nodes/connection.h"

namespace rankfault {
namespace {

constexpr const char* kOtherKey =
    "the tool closed the connection: the run's key is another one, or the tool is another version";
constexpr const char* kClosedAtOnce =
    "closed the connection at once: another program than rankfault listens there";

// Waits until the socket is ready; false: the deadline passed.
bool wait_for(int socket, short events, Instant deadline) {
  while (true) {
    const Duration left = lasted(HostClock::now(), deadline);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(left, 1h)).count();
    pollfd one{socket, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(ms));
    if (ready > 0) return true;
    if (left == Duration::zero()) return false;
  }
}

// One try at one address.
class Try {
 public:
  Try(const std::string& host, const SocketAddress& address, Duration limit)
      : address_(address), limit_(limit), begun_(HostClock::now()), deadline_(begun_ + limit) {
    name_ = host == address.text() ? address.endpoint()
                                   : fmt::format("{}:{} ({})", host, address.port(), address.text());
  }

  Result<Connection> connect(const RunKey& key) {
    if (Status reached = reach(); !reached) return reached.error();
    Hello hello;
    Answer answer;
    answer.node_nonce = fresh_nonce();
    if (Status read = receive(&hello, sizeof hello, kClosedAtOnce); !read) return read.error();
    if (hello.magic != kMagic) return failed(other_program(hello.magic));
    answer.proof = proof(key, kNodeRole, answer.node_nonce, hello.tool_nonce);
    const Duration needed = lasted(begun_, HostClock::now());
    const std::string if_closed =
        needed < kProofLimit ? kOtherKey
                             : fmt::format(
                                   "the tool closed the connection: this node needed {} to answer, and {} "
                                   "is the limit",
                                   to_text(needed), to_text(kProofLimit));
    if (::send(socket_.get(), &answer, sizeof answer, MSG_NOSIGNAL) != ssize_t{sizeof answer})
      return failed(if_closed);
    Proof theirs;
    if (Status read = receive(&theirs, sizeof theirs, if_closed); !read) return read.error();
    if (!equal(theirs, proof(key, kToolRole, hello.tool_nonce, answer.node_nonce)))
      return failed("its proof of the run's key is wrong: another program listens at this port");
    return Connection(std::move(socket_), name_,
                      FrameTags(key, kNodeRole, hello.tool_nonce, answer.node_nonce),
                      FrameTags(key, kToolRole, hello.tool_nonce, answer.node_nonce));
  }

 private:
  Error failed(const std::string& reason) const { return refused(name_ + ": " + reason); }

  Status reach() {
    socket_.reset(::socket(address_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_.valid()) return errno_error(name_ + ": cannot make a socket");
    int number = ::connect(socket_.get(), address_.get(), address_.size) == 0 ? 0 : errno;
    if (number == EINPROGRESS || number == EINTR) {
      if (!wait_for(socket_.get(), POLLOUT, deadline_)) number = ETIMEDOUT;
      socklen_t size = sizeof number;
      if (number != ETIMEDOUT) ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &number, &size);
    }
    if (number == 0) return Done{};
    if (number == ETIMEDOUT)
      return failed(
          fmt::format("no answer within {}: is a firewall between this node and the tool?", to_text(limit_)));
    if (number == ECONNREFUSED)
      return failed("connection refused: the tool has ended, or listens at another port");
    return failed(std::strerror(number));
  }

  // Reads exactly this many bytes. `if_closed`: what it means if the other side closes the connection.
  Status receive(void* bytes, size_t size, const std::string& if_closed) {
    for (size_t have = 0; have < size;) {
      const ssize_t got = ::recv(socket_.get(), static_cast<char*>(bytes) + have, size - have, 0);
      if (got > 0) have += static_cast<size_t>(got);
      if (got == 0 || (got < 0 && (errno == ECONNRESET || errno == EPIPE))) return failed(if_closed);
      if (got < 0 && errno != EAGAIN && errno != EINTR) return failed(std::strerror(errno));
      if (got < 0 && errno == EAGAIN && !wait_for(socket_.get(), POLLIN, deadline_))
        return failed(
            fmt::format("accepts the connection, but is silent for {}: is it busy, or another program?",
                        to_text(limit_)));
    }
    return Done{};
  }

  static std::string other_program(const Magic& magic) {
    return std::equal(magic.begin(), magic.begin() + 6, kMagic.begin())
               ? "the tool is another version of rankfault"
               : "another program than rankfault listens at this port";
  }

  SocketAddress address_;
  Duration limit_;
  Instant begun_, deadline_;
  std::string name_;
  UniqueFd socket_;
};

}  // namespace

Result<Connection> Connection::connect(const std::string& host, int port, const RunKey& key, Duration limit) {
  Result<std::vector<SocketAddress>> addresses = resolve(host, port);
  if (!addresses) return addresses.error();
  const Instant deadline = HostClock::now() + limit;
  std::optional<Error> error;
  for (size_t i = 0; i < addresses->size(); ++i) {
    const auto untried = static_cast<int64_t>(addresses->size() - i);
    const Duration share = untried == 1 && i == 0 ? limit : lasted(HostClock::now(), deadline) / untried;
    Result<Connection> made = Try(host, (*addresses)[i], share).connect(key);
    if (made) return made;
    if (!error)
      error = made.error();
    else
      error->message += "; " + made.error().message;
  }
  return *error;
}

}  // namespace rankfault
