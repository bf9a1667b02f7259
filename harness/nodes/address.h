// address: addresses of sockets: how a name becomes one, which ones this host has, and how they are written.
//
// Threads: any. The resolver of the system may need many seconds for a name, and no limit can be set.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  int family() const { return bytes.ss_family; }
  std::string text() const;      // "10.77.0.10", "fd00::1"
  std::string endpoint() const;  // "10.77.0.10:4711", "[fd00::1]:4711"
  int port() const;
  void set_port(int);
  bool is_any() const;  // 0.0.0.0 or ::
  bool is_loopback() const;
};

SocketAddress local_address_of(int socket);

// All TCP addresses of a name or of an address. "n0: the name does not resolve (...)".
Result<std::vector<SocketAddress>> resolve(const std::string& host, int port);

struct InterfaceAddress {
  std::string interface;
  SocketAddress address;
};
// Of this host: IPv4 first, then IPv6, link-local addresses last.
std::vector<InterfaceAddress> own_addresses();

}  // namespace rankfault
