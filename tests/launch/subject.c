/* launch_subject: a process of a job with one behaviour, named by its first word. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void say(const char* path, const char* text) {
  char part[512];
  snprintf(part, sizeof part, "%s.part", path);
  FILE* file = fopen(part, "w");
  if (!file) exit(100);
  fprintf(file, "%d %s\n", getpid(), text);
  fclose(file);
  rename(part, path);
}

static void wait_for_ever(void) {
  for (;;) pause();
}

static void on_term(int signal) {
  (void)signal;
  _exit(42);
}

/* A grandchild in its own session whose parent has ended, as `nohup daemon &` leaves it. */
static void daemonise(const char* path) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      say(path, "daemon");
      wait_for_ever();
    }
    _exit(0);
  }
}

static void* make_segment(const char* name) {
  const int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0 || ftruncate(fd, 4096)) exit(101);
  void* map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED) exit(102);
  return map;
}

static void map_segment(const char* name) { /* one that exists already */
  const int fd = shm_open(name, O_RDWR, 0600);
  if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) exit(106);
  close(fd);
}

/* Makes and unlinks segments without pause, in two processes, each with at most four names at a time. */
static void churn(const char* prefix) {
  char names[4][128];
  void* maps[4] = {0};
  const int twin = fork() == 0;
  for (unsigned i = 0;; ++i) {
    const unsigned at = i % 4;
    if (maps[at]) {
      shm_unlink(names[at]);
      munmap(maps[at], 4096);
    }
    snprintf(names[at], sizeof names[at], "/%s.%d.%u", prefix, twin, i);
    maps[at] = make_segment(names[at]);
    if (i % 64 == 0) usleep(500);
  }
}

/* Every process forks the next one and ends. */
static void chain(const char* path) {
  say(path, "chain");
  for (;;) {
    const int child = fork();
    if (child > 0) _exit(0);
    usleep(200);
  }
}

static int make_lock_file(const char* stem, char path[256]) {
  snprintf(path, 256, "/tmp/%s.lock", stem);
  const int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0) exit(105);
  return fd;
}

static void bind_socket(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, (struct sockaddr*)&address, sizeof address)) exit(103);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* arg = argc > 2 ? argv[2] : "";
  const char* ready = getenv("SUBJECT_READY"); /* written when the behaviour is set up */
  const struct rlimit no_core = {0, 0};
  char lock[256];
  int held = -1;
  setrlimit(RLIMIT_CORE, &no_core);
  if (!strcmp(what, "exit")) return atoi(arg);
  if (!strcmp(what, "signal")) raise(atoi(arg));
  if (!strcmp(what, "env")) return puts(getenv(arg) ? getenv(arg) : "(unset)") < 0;
  if (!strcmp(what, "gate")) { /* waits for the file, then exits with the second number */
    while (access(arg, F_OK)) usleep(1000);
    const int status = argc > 3 ? atoi(argv[3]) : 0;
    if (status < 0) raise(-status);
    return status;
  }
  if (!strcmp(what, "ignore_term")) signal(SIGTERM, SIG_IGN);
  if (!strcmp(what, "polite")) signal(SIGTERM, on_term);
  if (!strcmp(what, "daemon")) daemonise(arg);
  if (!strcmp(what, "segment")) make_segment(arg);
  if (!strcmp(what, "map")) map_segment(arg);
  if (!strcmp(what, "churn")) churn(arg);
  if (!strcmp(what, "chain")) chain(arg);
  if (!strcmp(what, "socket")) bind_socket(arg);
  if (!strcmp(what, "open_rw") && open(arg, O_RDWR) < 0) return 104;
  if (!strcmp(what, "open_new") && open(arg + 1, O_RDWR | O_CREAT | O_EXCL, 0600) < 0)
    return 104; /* not named */
  if (!strcmp(what, "open_r") && open(arg, O_RDONLY) < 0) return 104;
  if (!strcmp(what, "lock_file")) held = make_lock_file(arg, lock);
  if (ready) say(ready, what);
  if (held >= 0) { /* ends its use of the file when the file named third exists */
    while (access(argc > 3 ? argv[3] : "", F_OK)) usleep(1000);
    close(held); /* before unlink: then the inode is free */
    unlink(lock);
  }
  if (!strcmp(what, "stopped")) {
    signal(SIGTERM, on_term);
    raise(SIGSTOP);
  }
  wait_for_ever();
}
