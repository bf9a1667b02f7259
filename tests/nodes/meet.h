// meet: a tool and a node that meet on 127.0.0.1, and peers that are neither.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "harness/nodes/connection.h"
#include "harness/nodes/listener.h"
#include "tests/support/eventually.h"

namespace rankfault::test {

inline Listener listener_here(const RunKey& key) {
  Result<Listener> listener = Listener::open("127.0.0.1", key);
  EXPECT_TRUE(listener.ok()) << listener.error().message;
  return std::move(*listener);
}

// Serves the listener until `done`, for at most 30 s. Returns the connections that were proved.
inline std::vector<Connection> serve(Listener& listener, const std::function<bool(size_t proved)>& done) {
  std::vector<Connection> proved;
  EXPECT_TRUE(eventually([&] {
    for (Connection& connection : listener.accept_proved(HostClock::now()))
      proved.push_back(std::move(connection));
    return done(proved.size());
  }));
  return proved;
}

// A node that connects on a thread of its own.
inline std::future<Result<Connection>> node_connects(int port, const RunKey& key, Duration limit = 30s) {
  return std::async(std::launch::async, [=] { return Connection::connect("127.0.0.1", port, key, limit); });
}
inline bool is_over(const std::future<Result<Connection>>& node) {
  return node.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// A plain socket, which may do anything.
class RawPeer {
 public:
  explicit RawPeer(UniqueFd socket) : socket_(std::move(socket)) {}
  explicit RawPeer(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }

  template <typename T>
  T read() {
    T value{};
    EXPECT_EQ(::recv(socket_.get(), &value, sizeof value, MSG_WAITALL), ssize_t{sizeof value});
    return value;
  }
  // Returns false if the other side has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return errno == EAGAIN;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  template <typename T>
  bool send_value(const T& value) {
    return send({reinterpret_cast<const char*>(&value), sizeof value});
  }
  // Whether the other side closes the connection. What it sends before is lost.
  bool is_closed() {
    return eventually([&] {
      char byte = 0;
      const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
      return got == 0 || (got < 0 && errno != EAGAIN);
    });
  }
  void close() { socket_.reset(); }

  // Proves the key as a node does. Returns the tags of its frames.
  FrameTags prove(const RunKey& key, const Hello& hello, const char* role = kNodeRole) {
    Answer answer;
    answer.node_nonce = fresh_nonce();
    answer.proof = proof(key, role, answer.node_nonce, hello.tool_nonce);
    send_value(answer);
    return {key, kNodeRole, hello.tool_nonce, answer.node_nonce};
  }

 private:
  UniqueFd socket_;
};

struct Met {
  Connection tool, node;
};
inline Met meet() {
  const RunKey key = RunKey::fresh();
  Listener listener = listener_here(key);
  auto node = node_connects(listener.port(), key);
  std::vector<Connection> proved = serve(listener, [](size_t n) { return n == 1; });
  return {std::move(proved.at(0)), std::move(*node.get())};
}

// Reads until the connection has this many frames, or is lost.
inline std::vector<WireFrame> frames_of(Connection& to, size_t count) {
  std::vector<WireFrame> frames;
  EXPECT_TRUE(eventually([&] {
    const bool lost = !to.receive();
    while (auto frame = to.next()) frames.push_back(std::move(*frame));
    return lost || frames.size() >= count;
  }));
  return frames;
}

}  // namespace rankfault::test
