// own_sockets: reads /proc/self/fd.
#include "workloads/trainer/own_sockets.h"

#include <dirent.h>
#include <sys/socket.h>

#include <cstdlib>

namespace trainer {

namespace {

bool is_connected(int descriptor) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
}

}  // namespace

std::set<int> connected_sockets() {
  std::set<int> sockets;
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) return sockets;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    const int descriptor = std::atoi(entry->d_name);
    if (is_connected(descriptor)) sockets.insert(descriptor);
  }
  closedir(directory);
  return sockets;
}

void shut_down(const std::set<int>& sockets) {
  for (const int socket : sockets) shutdown(socket, SHUT_RDWR);
}

}  // namespace trainer
