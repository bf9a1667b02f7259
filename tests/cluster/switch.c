// switch: joins the nodes of a cluster over TAP interfaces; delays, loses or drops frames as it is asked to.
//
// usage: switch SOCKET PORTS
// Makes the interfaces rft0, rft1 and so on, prints "ready", and answers one line for each connection to
// SOCKET:
//   cable PORT 0|1                   pulls a cable, or plugs it in
//   drop FROM TO                     drops what goes from one port to another
//   heal                             drops nothing any more
//   shape PORT DELAY JITTER LOSS     microseconds, and parts of a million; for both directions of the cable
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { kMostPorts = 65, kMostFrames = 65536, kFrameBytes = 2048, kBurst = 64, kMacBytes = 6 };

struct port {
  int fd;  // -1 when its node has ended
  bool plugged;
  uint8_t mac[kMacBytes];
  int64_t delay_ns, jitter_ns, loss_ppm;
};

struct frame {
  int64_t due_ns;
  uint64_t number;  // frames that are due at the same time leave in their order
  int to, bytes;
  uint8_t* data;
};

static struct port ports[kMostPorts];
static int port_count;
static bool dropped[kMostPorts][kMostPorts];
static int64_t last_due_ns[kMostPorts][kMostPorts];  // jitter does not reorder the frames of a pair
static struct frame heap[kMostFrames];
static int heap_size;
static uint64_t next_number;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool is_before(const struct frame* a, const struct frame* b) {
  return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void push(struct frame frame) {
  int i = heap_size++;
  for (; i > 0 && is_before(&frame, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = frame;
}

static struct frame pop(void) {
  struct frame first = heap[0], last = heap[--heap_size];
  int i = 0;
  for (int child; (child = 2 * i + 1) < heap_size; i = child) {
    if (child + 1 < heap_size && is_before(&heap[child + 1], &heap[child])) child++;
    if (!is_before(&heap[child], &last)) break;
    heap[i] = heap[child];
  }
  heap[i] = last;
  return first;
}

static bool is_lost(const struct port* port) {
  return port->loss_ppm != 0 && random() % 1000000 < port->loss_ppm;
}

static int64_t time_on_cable(const struct port* port) {
  return port->delay_ns + (port->jitter_ns != 0 ? random() % (port->jitter_ns + 1) : 0);
}

static void send_later(int from, int to, const uint8_t* data, int bytes) {
  struct port *a = &ports[from], *b = &ports[to];
  if (!b->plugged || b->fd < 0 || dropped[from][to] || is_lost(a) || is_lost(b) || heap_size == kMostFrames)
    return;
  struct frame frame = {now_ns() + time_on_cable(a) + time_on_cable(b), next_number++, to, bytes,
                        malloc((size_t)bytes)};
  if (frame.data == NULL) return;
  if (frame.due_ns < last_due_ns[from][to]) frame.due_ns = last_due_ns[from][to];
  last_due_ns[from][to] = frame.due_ns;
  memcpy(frame.data, data, (size_t)bytes);
  push(frame);
}

// Sends a frame to the port that has its address, or to all when none is known to have it.
static void forward(int from, const uint8_t* data, int bytes) {
  memcpy(ports[from].mac, data + kMacBytes, kMacBytes);
  bool is_for_all = (data[0] & 1) != 0;
  for (int to = 0; !is_for_all && to < port_count; to++) {
    if (to != from && memcmp(ports[to].mac, data, kMacBytes) == 0) {
      send_later(from, to, data, bytes);
      return;
    }
  }
  for (int to = 0; to < port_count; to++) {
    if (to != from) send_later(from, to, data, bytes);
  }
}

static void read_port(int from) {
  uint8_t data[kFrameBytes];
  for (int i = 0; i < kBurst; i++) {
    ssize_t bytes = read(ports[from].fd, data, sizeof data);
    if (bytes < 0 && errno == EBADFD) {  // the interface has gone with its node
      close(ports[from].fd);
      ports[from].fd = -1;
    }
    if (bytes < 2 * kMacBytes) return;
    if (ports[from].plugged) forward(from, data, (int)bytes);
  }
}

static void write_due_frames(void) {
  for (int64_t now = now_ns(); heap_size > 0 && heap[0].due_ns <= now;) {
    struct frame frame = pop();
    struct port* port = &ports[frame.to];
    // A full queue loses the frame, as in a real switch.
    if (port->fd >= 0 && port->plugged && write(port->fd, frame.data, (size_t)frame.bytes) < 0) errno = 0;
    free(frame.data);
  }
}

static bool is_port(int number) { return number >= 0 && number < port_count; }

// Does what a line asks for. Returns the answer.
static const char* obey(const char* line) {
  int a, b;
  long long delay, jitter, loss;
  if (sscanf(line, "cable %d %d", &a, &b) == 2 && is_port(a)) {
    unsigned int carrier = b != 0;
    ports[a].plugged = b != 0;
    if (ports[a].fd >= 0) ioctl(ports[a].fd, TUNSETCARRIER, &carrier);
  } else if (sscanf(line, "drop %d %d", &a, &b) == 2 && is_port(a) && is_port(b)) {
    dropped[a][b] = true;
  } else if (strncmp(line, "heal", 4) == 0) {
    memset(dropped, 0, sizeof dropped);
  } else if (sscanf(line, "shape %d %lld %lld %lld", &a, &delay, &jitter, &loss) == 4 && is_port(a)) {
    ports[a].delay_ns = delay * 1000;
    ports[a].jitter_ns = jitter * 1000;
    ports[a].loss_ppm = loss;
  } else {
    return "unknown request\n";
  }
  return "ok\n";
}

static void answer(int listener) {
  char line[200] = "";
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  if (read(connection, line, sizeof line - 1) > 0) {
    const char* text = obey(line);
    send(connection, text, strlen(text), MSG_NOSIGNAL);
  }
  close(connection);
}

static int listen_on(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (strlen(path) >= sizeof address.sun_path) errno = ENAMETOOLONG, fail(path);
  strcpy(address.sun_path, path);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 16) != 0)
    fail(path);
  return listener;
}

static void open_port(int number) {
  struct ifreq wish = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  struct port* port = &ports[number];
  snprintf(wish.ifr_name, sizeof wish.ifr_name, "rft%d", number);
  port->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (port->fd < 0 || ioctl(port->fd, TUNSETIFF, &wish) != 0) fail("/dev/net/tun");
  port->plugged = true;
}

int main(int argc, char** argv) {
  if (argc != 3 || (port_count = atoi(argv[2])) < 1 || port_count > kMostPorts) {
    fputs("usage: switch SOCKET PORTS\n", stderr);
    return 64;
  }
  prctl(PR_SET_TIMERSLACK, 1000UL);
  int listener = listen_on(argv[1]);
  for (int i = 0; i < port_count; i++) open_port(i);
  puts("ready");
  fclose(stdout);
  struct pollfd polled[kMostPorts + 1];
  for (;;) {
    write_due_frames();
    int64_t wait_ns = heap_size > 0 ? heap[0].due_ns - now_ns() : 0;
    if (wait_ns < 0) wait_ns = 0;
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
    for (int i = 0; i < port_count; i++) polled[i] = (struct pollfd){.fd = ports[i].fd, .events = POLLIN};
    polled[port_count] = (struct pollfd){.fd = listener, .events = POLLIN};
    if (ppoll(polled, (nfds_t)port_count + 1, heap_size > 0 ? &wait : NULL, NULL) < 0 && errno != EINTR)
      fail("ppoll");
    for (int i = 0; i < port_count; i++) {
      if (polled[i].revents != 0 && ports[i].fd >= 0) read_port(i);
    }
    if (polled[port_count].revents != 0) answer(listener);
  }
}
