/* plain_leaves: a rank that makes files and removes none of them: STEM READY [GO]
 *
 * It writes results to /tmp/STEM.csv and $TMPDIR/STEM.bin and keeps both open, maps a segment
 * /dev/shm/STEM.seg, keeps a plain file /dev/shm/STEM.out open and binds a socket /tmp/STEM.sock. Then it
 * writes the file READY. It ends when the file GO exists; without GO it never ends. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void fail(const char* what) {
  perror(what);
  exit(1);
}

/* Leaves the file open until the process ends. */
static void write_results(const char* folder, const char* stem, const char* ending) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.%s", folder, stem, ending);
  FILE* file = fopen(path, "w");
  if (!file) fail(path);
  fputs("results\n", file);
  fflush(file);
}

static void map_segment(const char* stem) {
  char name[256];
  snprintf(name, sizeof name, "/%s.seg", stem);
  const int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0 || ftruncate(fd, 4096)) fail(name);
  if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) fail(name);
  close(fd);
}

static void bind_socket(const char* stem) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/tmp/%s.sock", stem);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr*)&address, sizeof address)) fail(address.sun_path);
}

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const char *stem = argv[1], *tmp = getenv("TMPDIR");
  write_results("/tmp", stem, "csv");
  write_results(tmp ? tmp : "/tmp", stem, "bin");
  write_results("/dev/shm", stem, "out");
  map_segment(stem);
  bind_socket(stem);
  FILE* ready = fopen(argv[2], "w");
  if (!ready) fail(argv[2]);
  fclose(ready);
  while (argc < 4 || access(argv[3], F_OK)) usleep(1000);
  return 0;
}
