/* guardian_socket.c: see guardian_socket.h. */
#include "guardian_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/launch/guardian/tree.h"
#include "harness/launch/task_environment.h"

#define STARTS_WITHIN_MS 8000
#define ANSWERS_WITHIN_MS 2000

static int fail(char* why, size_t bytes, const char* what) {
  snprintf(why, bytes, "%s: %s", what, strerror(errno));
  return -1;
}

static int try_connect(const char* dir) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (snprintf(address.sun_path, sizeof address.sun_path, "%s%s", dir, RF_TASK_SOCKET) >=
      (int)sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr*)&address, sizeof address) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* The folder is ours alone: others could put a socket of theirs into it. */
static int make_dir(const char* dir) {
  struct stat there;
  char records[4096];
  if (mkdir(dir, 0700) && errno != EEXIST) return -1;
  if (lstat(dir, &there)) return -1;
  if (!S_ISDIR(there.st_mode) || there.st_uid != geteuid() || (there.st_mode & 077)) {
    errno = EPERM;
    return -1;
  }
  snprintf(records, sizeof records, "%s/records", dir);
  return mkdir(records, 0700) && errno != EEXIST ? -1 : 0;
}

/* Forks twice, so that the guardian is not our child and outlives our task. Gives it the pid of our parent,
 * which starts all tasks of the node: slurmstepd, or the daemon of an mpirun. Returns a descriptor that hangs
 * up when the guardian ends, or -1. */
static int start_guardian(const char* dir) {
  char program[4096], log[4096], root[16];
  int life[2];
  snprintf(root, sizeof root, "%d", (int)getppid());
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 32);
  if (n <= 0 || pipe2(life, O_CLOEXEC)) return -1;
  program[n] = 0;
  strcpy(strrchr(program, '/'), "/rankfault");
  snprintf(log, sizeof log, "%s/guardian.log", dir);
  const pid_t first = fork();
  if (first == 0) {
    if (fork() > 0) _exit(0);
    setsid();
    const int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (in < 0 || out < 0 || chdir("/")) _exit(126);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    if (dup2(life[1], 3) != 3) _exit(126); /* open in the guardian for as long as it lives */
    fcntl(3, F_SETFD, 0);
    closefrom(4);
    execl(program, program, "node", root, (char*)NULL);
    dprintf(2, "cannot start %s: %s\n", program, strerror(errno));
    _exit(127);
  }
  if (first > 0) waitpid(first, NULL, 0);
  close(life[1]);
  return life[0];
}

/* The last line of its log says why it did not start. */
static void read_reason(const char* dir, char* why, size_t bytes) {
  char path[4096], line[400];
  snprintf(path, sizeof path, "%s/guardian.log", dir);
  snprintf(why, bytes, "it does not start");
  FILE* log = fopen(path, "re");
  while (log && fgets(line, sizeof line, log)) {
    line[strcspn(line, "\n")] = 0;
    snprintf(why, bytes, "%s", line);
  }
  if (log) fclose(log);
}

int rf_guardian_socket(char* why, size_t bytes) {
  const char* dir = getenv(RF_TASK_DIR);
  char path[4096];
  if (!dir || !getenv(RF_TASK_KEY) || !getenv(RF_TASK_TOOL)) {
    snprintf(why, bytes,
             "the launcher did not pass " RF_TASK_DIR ", " RF_TASK_TOOL " and " RF_TASK_KEY " on");
    return -1;
  }
  if (make_dir(dir)) return fail(why, bytes, dir);
  snprintf(path, sizeof path, "%s%s", dir, RF_TASK_LOCK);
  const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX)) return fail(why, bytes, path);
  snprintf(path, sizeof path, "%s/refused", dir);
  int fd = try_connect(dir);
  const int life =
      fd < 0 && access(path, F_OK) ? start_guardian(dir) : -1; /* else one has tried it, in vain */
  for (int ms = 0; fd < 0 && access(path, F_OK) && ms < STARTS_WITHIN_MS; ms += 10) {
    struct pollfd ended = {.fd = life, .events = 0};
    if (poll(&ended, 1, 10) > 0) break;
    fd = try_connect(dir);
  }
  if (life >= 0) close(life);
  if (fd < 0) read_reason(dir, why, bytes);
  if (fd < 0) close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); /* the others need not wait */
  close(lock);
  return fd;
}

static uint64_t task_start; /* of the one task: when it has ended, /proc does not say it any more */

void rf_say_begin(int socket, pid_t task) {
  struct rf_proc proc = {0};
  char packet[RF_TASK_PACKET];
  rf_proc_read(task, &proc);
  task_start = proc.start;
  if (socket < 0) return;
  const int n = snprintf(packet, sizeof packet, "begin %d %" PRIu64, (int)task, task_start);
  if (send(socket, packet, (size_t)n, MSG_NOSIGNAL) < 0) return;
}

void rf_say_end(int socket, pid_t task, int wait_status) {
  char packet[RF_TASK_PACKET];
  if (socket < 0) return;
  const int n = snprintf(packet, sizeof packet, "end %d %" PRIu64 " %d", (int)task, task_start, wait_status);
  if (send(socket, packet, (size_t)n, MSG_NOSIGNAL) < 0) return;
  struct pollfd answer = {.fd = socket, .events = POLLIN};
  poll(&answer, 1, ANSWERS_WITHIN_MS);
}
