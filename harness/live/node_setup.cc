#include "harness/live/node_setup.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "harness/base/host_name.h"

namespace rankfault {
namespace {

std::string place_to_listen(const std::string& where) {
  if (!where.empty()) return where;
  if (const char* named = std::getenv("RANKFAULT_LISTEN"); named && *named) return named;
  return host_name();
}

// Short, because a socket's path has at most 107 bytes; unlike that of any other run.
std::string node_dir() {
  std::array<uint8_t, 8> random{};
  fill_with_random_bytes(random);
  std::string name = "/tmp/rankfault-node-";
  for (const uint8_t byte : random) name += fmt::format("{:02x}", byte);
  return name;
}

}  // namespace

Result<NodeSetup> open_nodes(const Plan& plan, const RunDir& dir, Journal& journal,
                             const std::string& where) {
  const RunKey key = RunKey::fresh();
  const std::string place = place_to_listen(where);
  Result<Listener> listener = Listener::open(place, key);
  if (!listener) {
    Error error = listener.error();
    error.message += "; name the interface at which the nodes reach this host: --listen eth0";
    return error;
  }
  NodeChannel channel{node_dir(), listener->address(), listener->port(), key.hex()};
  return NodeSetup{std::make_unique<RemoteNodes>(std::move(*listener), dir.records(),
                                                 plan.actions.empty() ? "" : to_json(plan).dump(), journal),
                   std::move(channel)};
}

}  // namespace rankfault
