// socket_waits.cc: lets the threads of NCCL that wait for one socket sleep, in place of asking it without a
// pause.
//
// On a node with GPUs each rank has cores of its own, and NCCL's bootstrap and its proxies ask a socket again
// and again. Here many ranks share few cores, so each of them waited until all others had used up their time.
// The linker (--wrap) gives these functions NCCL's calls of recv and accept. The result is always that of the
// call.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

extern "C" {
ssize_t __real_recv(int socket, void* out, size_t bytes, int flags);        // NOLINT: the linker's names
ssize_t __wrap_recv(int socket, void* out, size_t bytes, int flags);        // NOLINT
int __real_accept(int socket, struct sockaddr* address, socklen_t* bytes);  // NOLINT
int __wrap_accept(int socket, struct sockaddr* address, socklen_t* bytes);  // NOLINT
}

namespace {

constexpr int kLongest = 8;  // ms; then NCCL looks at its abort flag again

// Sleeps until the socket has something, if this thread asks it again: 1 ms at most, then 2, 4 and 8. A
// thread that asks several sockets in turn never sleeps: the others must not wait for this one.
void wait_if_asked_again(int socket) {
  thread_local int asked = -1, patience = 1;
  if (asked != socket) {
    asked = socket;
    patience = 1;
    return;
  }
  const int error = errno;
  pollfd one = {socket, POLLIN, 0};
  patience = poll(&one, 1, patience) == 0 ? std::min(2 * patience, kLongest) : 1;
  errno = error;
}

bool has_nothing_yet(ssize_t result) { return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK); }

}  // namespace

ssize_t __wrap_recv(int socket, void* out, size_t bytes, int flags) {
  const ssize_t result = __real_recv(socket, out, bytes, flags);
  if (has_nothing_yet(result)) wait_if_asked_again(socket);
  return result;
}

int __wrap_accept(int socket, struct sockaddr* address, socklen_t* bytes) {
  const int result = __real_accept(socket, address, bytes);
  if (has_nothing_yet(result)) wait_if_asked_again(socket);
  return result;
}
