#include "harness/evidence/sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace rankfault {
namespace {

std::set<uint64_t> socket_inodes(int pid) {
  std::set<uint64_t> inodes;
  std::error_code error;
  for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/fd", pid), error), end;
       !error && it != end; it.increment(error)) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(it->path(), gone).string();
    uint64_t inode = 0;
    if (std::sscanf(target.c_str(), "socket:[%" SCNu64 "]", &inode) == 1) inodes.insert(inode);
  }
  return inodes;
}

// The kernel prints the words of an address in its own byte order.
std::string address_text(const std::string& hex, unsigned port) {
  uint32_t words[4] = {};
  const size_t count = hex.size() / 8;
  if (count != 1 && count != 4) return "";
  for (size_t i = 0; i < count; ++i)
    words[i] = static_cast<uint32_t>(std::strtoul(hex.substr(i * 8, 8).c_str(), nullptr, 16));
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4_in_6 = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff);
  if (count == 1 || v4_in_6) {
    ::inet_ntop(AF_INET, &words[count == 1 ? 0 : 3], text, sizeof text);
    return fmt::format("{}:{}", text, port);
  }
  ::inet_ntop(AF_INET6, words, text, sizeof text);
  return fmt::format("[{}]:{}", text, port);
}

const char* state_text(unsigned state) {
  constexpr const char* kStates[] = {"",           "established", "syn sent",  "syn received",
                                     "fin wait 1", "fin wait 2",  "time wait", "close",
                                     "close wait", "last ack",    "listen",    "closing"};
  return state < std::size(kStates) ? kStates[state] : "";
}

void read_table(const std::string& path, const std::set<uint64_t>& mine, std::vector<SocketEvidence>& out) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    char local[64] = {}, peer[64] = {};
    unsigned local_port = 0, peer_port = 0, state = 0;
    uint64_t send_queue = 0, receive_queue = 0, inode = 0;
    if (std::sscanf(line.c_str(),
                    " %*d: %63[0-9A-Fa-f]:%x %63[0-9A-Fa-f]:%x %x %" SCNx64 ":%" SCNx64
                    " %*x:%*x %*x %*u %*u %" SCNu64,
                    local, &local_port, peer, &peer_port, &state, &send_queue, &receive_queue, &inode) != 8 ||
        !mine.count(inode) || std::strcmp(state_text(state), "listen") == 0)
      continue;
    out.push_back({address_text(local, local_port), address_text(peer, peer_port), state_text(state),
                   send_queue, receive_queue});
  }
}

}  // namespace

std::vector<SocketEvidence> sockets_of(int pid) {
  std::vector<SocketEvidence> out;
  const std::set<uint64_t> mine = socket_inodes(pid);
  for (const char* table : {"tcp", "tcp6"}) read_table(fmt::format("/proc/{}/net/{}", pid, table), mine, out);
  std::sort(out.begin(), out.end(), [](const SocketEvidence& a, const SocketEvidence& b) {
    return std::pair(a.peer, a.local) < std::pair(b.peer, b.local);
  });
  return out;
}

}  // namespace rankfault
