#include "harness/nodes/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace rankfault {
namespace {

SocketAddress copy_of(const sockaddr* address, socklen_t size) {
  SocketAddress copy;
  std::memcpy(&copy.bytes, address, size);
  copy.size = size;
  return copy;
}

const sockaddr_in& v4(const SocketAddress& a) { return reinterpret_cast<const sockaddr_in&>(a.bytes); }
const sockaddr_in6& v6(const SocketAddress& a) { return reinterpret_cast<const sockaddr_in6&>(a.bytes); }

int rank_of(const SocketAddress& address) {
  if (address.family() == AF_INET) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&v6(address).sin6_addr) ? 2 : 1;
}

}  // namespace

std::string SocketAddress::text() const {
  char host[NI_MAXHOST];
  const int failed = ::getnameinfo(get(), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return failed == 0 ? host : "an unknown address";
}

std::string SocketAddress::endpoint() const {
  const std::string host = family() == AF_INET6 ? "[" + text() + "]" : text();
  return fmt::format("{}:{}", host, port());
}

int SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? v6(*this).sin6_port : v4(*this).sin_port);
}

void SocketAddress::set_port(int port) {
  const in_port_t number = htons(static_cast<uint16_t>(port));
  if (family() == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(bytes).sin6_port = number;
  else
    reinterpret_cast<sockaddr_in&>(bytes).sin_port = number;
}

bool SocketAddress::is_any() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_UNSPECIFIED(&v6(*this).sin6_addr);
  return v4(*this).sin_addr.s_addr == htonl(INADDR_ANY);
}

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&v6(*this).sin6_addr);
  return ntohl(v4(*this).sin_addr.s_addr) >> 24 == 127;
}

SocketAddress local_address_of(int socket) {
  SocketAddress address;
  address.size = sizeof address.bytes;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address.bytes), &address.size);
  return address;
}

Result<std::vector<SocketAddress>> resolve(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
  if (failed != 0)
    return refused(fmt::format("{}: the name does not resolve ({})", host, ::gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  std::vector<SocketAddress> found;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
    found.push_back(copy_of(a->ai_addr, a->ai_addrlen));
    found.back().set_port(port);
  }
  if (found.empty()) return refused(host + ": the name has no address");
  return found;
}

std::vector<InterfaceAddress> own_addresses() {
  std::vector<InterfaceAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const ifaddrs* a = list; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr) continue;
    const int family = a->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    found.push_back({a->ifa_name, copy_of(a->ifa_addr, size)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return rank_of(a.address) < rank_of(b.address); });
  return found;
}

}  // namespace rankfault
