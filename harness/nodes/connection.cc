#include "harness/nodes/connection.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rankfault {
namespace {

constexpr size_t kMostReadAtOnce = size_t{1} << 20;
constexpr size_t kManySentBytes = size_t{1} << 20;  // removed from the front of the queue

}  // namespace

Connection::Connection(UniqueFd socket, std::string peer, FrameTags sending, FrameTags receiving)
    : socket_(std::move(socket)), peer_(std::move(peer)), sending_(sending), reader_(receiving) {
  const int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void Connection::send(uint16_t type, std::string_view payload) {
  if (lost()) return;
  if (queued_bytes() + kFrameHeaderBytes + payload.size() + kTagBytes > kMostQueuedBytes)
    return lose(fmt::format("takes no data: {} MiB wait for it", queued_bytes() >> 20));
  append_frame(queue_, sending_, type, payload);
}

Status Connection::flush() {
  while (!lost() && wants_write()) {
    const ssize_t sent = ::send(socket_.get(), queue_.data() + sent_of_queue_, queued_bytes(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) {
      const int number = errno;
      while (!lost() && read_some()) {
      }  // its last frames may say why
      if (!lost()) lose(std::string("is gone: ") + std::strerror(number));
      break;
    }
    sent_of_queue_ += static_cast<size_t>(sent);
    bytes_sent_ += static_cast<uint64_t>(sent);
  }
  if (!wants_write() || sent_of_queue_ > kManySentBytes) {
    queue_.erase(0, sent_of_queue_);
    sent_of_queue_ = 0;
  }
  return state();
}

Status Connection::receive() {
  const uint64_t before = bytes_received_;
  while (!lost() && bytes_received_ - before < kMostReadAtOnce && read_some()) {
  }
  return state();
}

// Whether there may be more.
bool Connection::read_some() {
  std::array<char, 65536> bytes;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (got > 0) {
    bytes_received_ += static_cast<uint64_t>(got);
    reader_.add({bytes.data(), static_cast<size_t>(got)});
    take_frames();
    return true;
  }
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  const std::string within = reader_.is_inside_a_frame() ? " in the middle of a frame" : "";
  lose(got == 0 ? "closed the connection" + within : "is gone" + within + ": " + std::strerror(errno));
  return false;
}

void Connection::take_frames() {
  while (!lost()) {
    Result<std::optional<WireFrame>> frame = reader_.next();
    if (!frame) return lose("sent " + frame.error().message);
    if (!*frame) return;
    frames_.push_back(std::move(**frame));
  }
}

std::optional<WireFrame> Connection::next() {
  if (frames_.empty()) return std::nullopt;
  std::optional<WireFrame> frame(std::move(frames_.front()));
  frames_.pop_front();
  return frame;
}

void Connection::lose(const std::string& reason) {
  why_lost_ = peer_ + " " + reason;
  socket_.reset();
  queue_ = {};
  sent_of_queue_ = 0;
}

Status Connection::state() const {
  if (lost()) return refused(why_lost_);
  return Done{};
}

}  // namespace rankfault
