#include "harness/nodes/listener.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rankfault {
namespace {

constexpr int kBacklog = 256;

std::string addresses_text() {
  std::string text;
  for (const InterfaceAddress& own : own_addresses())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", own.interface, own.address.text());
  return text;
}

Error not_of_this_host(const std::string& where) {
  return refused(fmt::format("{} is not an interface, an address or a name of this host, which has {}", where,
                             addresses_text()));
}

Result<SocketAddress> address_at(const std::string& where, int port) {
  for (InterfaceAddress& own : own_addresses())
    if (own.interface == where) {
      own.address.set_port(port);
      return own.address;
    }
  const Result<std::vector<SocketAddress>> found = resolve(where, port);
  if (!found) return not_of_this_host(where);
  const SocketAddress& first = found->front();
  if (first.is_any())
    return refused(where + " means every interface of this host: name the one that the nodes are to use");
  if (first.is_loopback() && where != first.text() && where != "localhost")
    return refused(
        fmt::format("{} means {} on this host, which other hosts cannot reach: name an interface or "
                    "an address ({})",
                    where, first.text(), addresses_text()));
  return first;
}

}  // namespace

Result<Listener> Listener::open(const std::string& where, const RunKey& key, int port) {
  if (where.empty())
    return usage_error("name the interface or the address at which the nodes reach this host (" +
                       addresses_text() + ")");
  const Result<SocketAddress> address = address_at(where, port);
  if (!address) return address.error();
  UniqueFd socket(::socket(address->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return errno_error("cannot make a socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), address->get(), address->size) != 0) {
    if (errno == EADDRNOTAVAIL) return not_of_this_host(where);
    return errno_error("cannot listen at " + address->endpoint());
  }
  if (::listen(socket.get(), kBacklog) != 0) return errno_error("cannot listen at " + address->endpoint());
  const SocketAddress bound = local_address_of(socket.get());
  return Listener(std::move(socket), key, bound);
}

void Listener::add_polls(std::vector<pollfd>& polls) const {
  if (!is_known(accepts_again_)) polls.push_back({socket_.get(), POLLIN, 0});
  for (const Unproved& peer : unproved_) polls.push_back({peer.socket.get(), POLLIN, 0});
}

Instant Listener::wakes_at() const {
  const Instant late = unproved_.empty() ? kEndOfTime : unproved_.front().since + kProofLimit;
  return is_known(accepts_again_) ? std::min(late, accepts_again_) : late;
}

std::vector<Connection> Listener::accept_proved(Instant now) {
  std::vector<Connection> proved;
  // What is there is read before anyone is late: this program may have been the one that was busy.
  std::erase_if(unproved_, [&](Unproved& peer) { return read_answer(peer, proved) == Step::kOver; });
  drop_late(now);
  if (!is_known(accepts_again_) || now >= accepts_again_) accept_new(now);
  return proved;
}

void Listener::drop_late(Instant now) {
  while (!unproved_.empty() && now - unproved_.front().since >= kProofLimit) {
    ++dropped_["no proof within " + to_text(kProofLimit)];
    unproved_.pop_front();
  }
}

void Listener::accept_new(Instant now) {
  accepts_again_ = {};
  while (has_room(now)) {
    SocketAddress peer;
    peer.size = sizeof peer.bytes;
    UniqueFd socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer.bytes), &peer.size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      greet(std::move(socket), peer, now);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      ++dropped_[std::string("not accepted: ") + std::strerror(errno)];
      accepts_again_ =
          now + kProtected;  // the peer waits on in the kernel: without a pause, poll() would spin
      return;
    }
    // Other errors are those of one peer, which is gone already.
  }
}

// Makes room by dropping the oldest, if that had its time.
bool Listener::has_room(Instant now) {
  if (unproved_.size() < kMostUnproved) return true;
  const Instant free = unproved_.front().since + kProtected;
  if (now < free) {
    accepts_again_ = free;
    return false;
  }
  // Nothing has come from it so far: what had come was read just before.
  ++dropped_[fmt::format("more than {} peers without a proof", kMostUnproved)];
  unproved_.pop_front();
  return true;
}

void Listener::greet(UniqueFd socket, const SocketAddress& peer, Instant now) {
  Hello hello;
  hello.tool_nonce = fresh_nonce();
  // An empty send buffer takes 40 bytes.
  if (::send(socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != ssize_t{sizeof hello}) {
    ++dropped_["closed before its proof"];
    return;
  }
  unproved_.push_back({std::move(socket), peer, now, hello.tool_nonce, {}, 0});
}

Listener::Step Listener::read_answer(Unproved& peer, std::vector<Connection>& proved) {
  while (peer.have < peer.answer.size()) {
    const ssize_t got =
        ::recv(peer.socket.get(), peer.answer.data() + peer.have, peer.answer.size() - peer.have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Step::kWaits;
    if (got <= 0) {
      ++dropped_["closed before its proof"];
      return Step::kOver;
    }
    peer.have += static_cast<size_t>(got);
  }
  judge_answer(peer, proved);
  return Step::kOver;
}

void Listener::judge_answer(Unproved& peer, std::vector<Connection>& proved) {
  Answer answer;
  std::memcpy(&answer, peer.answer.data(), sizeof answer);
  if (answer.magic != kMagic) {
    ++dropped_["another program or another version"];
    return;
  }
  if (!equal(answer.proof, proof(key_, kNodeRole, answer.node_nonce, peer.tool_nonce))) {
    ++dropped_["a wrong proof of the run's key"];
    return;
  }
  const Proof own = proof(key_, kToolRole, peer.tool_nonce, answer.node_nonce);
  if (::send(peer.socket.get(), own.data(), own.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(own.size())) {
    ++dropped_["closed after its proof"];
    return;
  }
  proved.emplace_back(std::move(peer.socket), peer.peer.endpoint(),
                      FrameTags(key_, kToolRole, peer.tool_nonce, answer.node_nonce),
                      FrameTags(key_, kNodeRole, peer.tool_nonce, answer.node_nonce));
}

}  // namespace rankfault
