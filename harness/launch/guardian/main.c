/* rankfault-guardian: the ancestor of every process of a job. It starts them, reaps them and reports their
 * ends. When the tool is gone, it ends all of them and undoes what the run did to the host.
 *
 * It is a program of its own, with libc only, so that an error in the tool cannot affect it, and it
 * survives the tool's SIGKILL. Protocol: guardian_protocol.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "guardian.h"
#include "own_mounts.h"
#include "spawn.h"
#include "tree.h"
#include "undo.h"

#define CENSUS_PERIOD_NS \
  2000000000ull /* a backstop: new names in /dev/shm and the /tmp folders wake us at once */
#define CENSUS_PAUSE_NS 10000000ull
#define CENSUS_BURST_NS 100000000ll
#define CENSUS_REST 200 /* times the CPU time of a look */

static void do_spawn(struct rf_guardian* g, const struct rf_guardian_packet* in, char* texts, size_t bytes) {
  struct rf_guardian_packet out = {.message = RF_G_REFUSED, .tag = in->tag, .a = EINVAL};
  char tried[512] = "read the request";
  struct rf_spawn spawn;
  struct rf_proc proc = {0};
  if (rf_spawn_parse(texts, bytes, in->a, in->b, &spawn) == 0) {
    if (spawn.cwd[0]) rf_census_named(&g->census, spawn.cwd);
    for (char** word = spawn.argv; *word; ++word) rf_census_named(&g->census, *word);
    for (char** word = spawn.env; *word; ++word) rf_census_named(&g->census, *word);
    out.pid = rf_spawn_run(&spawn, g->census.watch ? &g->inherited : NULL, &out.a, tried, sizeof tried);
    rf_spawn_free(&spawn);
  }
  if (out.pid > 0) {
    if (g->child_count == g->child_room) {
      const size_t room = g->child_room ? 2 * g->child_room : 64;
      struct rf_child* more = realloc(g->children, room * sizeof *more);
      if (!more) abort();
      g->children = more;
      g->child_room = room;
    }
    g->children[g->child_count++] = (struct rf_child){out.pid, in->tag, (in->flags & RF_SPAWN_FAR) != 0};
    rf_proc_read(out.pid, &proc);
    out.message = RF_G_SPAWNED;
    out.a = 0;
    out.start_time = proc.start;
  }
  out.time_ns = rf_now_ns();
  rf_say(g, &out, tried, out.pid > 0 ? 0 : strlen(tried) + 1);
}

static void do_load(struct rf_guardian* g, const struct rf_guardian_packet* in) {
  struct rf_guardian_packet out = {.message = RF_G_LOADED, .tag = in->tag};
  if (in->a > 0)
    out.b = rf_load_begin(g, in->tag, in->pid, in->a);
  else
    rf_load_end(g, in->tag);
  out.a = (int32_t)g->busy_count;
  out.time_ns = rf_now_ns();
  rf_say(g, &out, NULL, 0);
}

static uint64_t cpu_time_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000ull + (uint64_t)used.tv_nsec;
}

/* The CPU time that looks may take: it grows by 1/200 of the time that passes. A job that starts, or an
 * operation that makes a segment, is looked at name by name; a neighbour that makes files all day is not. */
static int64_t census_credit(struct rf_guardian* g) {
  const uint64_t now = rf_now_ns();
  g->census_credit += (int64_t)((now - g->census_credit_at) / CENSUS_REST);
  if (g->census_credit > CENSUS_BURST_NS) g->census_credit = CENSUS_BURST_NS;
  g->census_credit_at = now;
  return g->census_credit;
}

static void look(struct rf_guardian* g) {
  const uint64_t began = cpu_time_ns(); /* on a busy machine a look takes long but costs no more */
  rf_census_take(&g->census);
  const uint64_t cost = cpu_time_ns() - began;
  g->census_credit -= (int64_t)cost;
  g->census_at =
      rf_now_ns() + (cost * CENSUS_REST > CENSUS_PERIOD_NS ? cost * CENSUS_REST : CENSUS_PERIOD_NS);
}

/* Looks at once, because the maker may be killed within milliseconds, and once more, because the kernel
 * reports a name before its maker holds a descriptor. */
static void name_appeared(struct rf_guardian* g) {
  if (census_credit(g) > 0) look(g);
  const int64_t credit = census_credit(g);
  const uint64_t due = rf_now_ns() + (credit > 0 ? CENSUS_PAUSE_NS : (uint64_t)(-credit) * CENSUS_REST);
  if (due < g->census_at) g->census_at = due;
}

static void undo(struct rf_guardian* g, int leave) {
  char open_list[64]; /* works even if its name was removed */
  snprintf(open_list, sizeof open_list, "/proc/self/fd/%d", g->census.undo_fd);
  const struct rf_undo_run run = {.undo_path = open_list,
                                  .unlisted = g->census.unlisted,
                                  .unlisted_bytes = g->census.unlisted_bytes,
                                  .run_dir = g->run_dir,
                                  .tmp_dir = g->tmp_dir,
                                  .tmp_dev = g->tmp_dev,
                                  .tmp_ino = g->tmp_ino,
                                  .root = getpid(),
                                  .watch = g->census.watch,
                                  .leave = leave};
  struct rf_undo_result result;
  rf_undo(&run, &result);
  struct rf_proc* left = NULL;
  const size_t n = leave ? 0 : rf_descendants(getpid(), &left);
  struct rf_guardian_packet out = {.message = RF_G_UNDONE, .a = result.undone, .b = result.failed + (int)n};
  char* text = NULL;
  size_t bytes = 0;
  FILE* lines = open_memstream(&text, &bytes);
  if (lines) {
    fputs(result.lines ? result.lines : "", lines);
    for (size_t i = 0; i < n; ++i) fprintf(lines, "failed process %d does not end\n", left[i].pid);
    fclose(lines);
  }
  if (bytes) fputs(text, stderr);
  out.time_ns = rf_now_ns();
  rf_say_lines(g, &out, RF_G_LINES, text, bytes);
  free(text);
  free(left);
  free(result.lines);
}

/* Pairs of a path and a size. */
static int mount_all(const struct rf_guardian* g) {
  if (*g->mounts && rf_own_mounts()) return -1;
  for (char** mount = g->mounts; *mount; mount += 2)
    if (rf_mount_small(mount[0], strtoull(mount[1], NULL, 10))) return -1;
  return 0;
}

/* A folder on which something is mounted cannot be removed. */
static void unmount_all(const struct rf_guardian* g) {
  for (char** mount = g->mounts; *mount; mount += 2)
    if (strcmp(*mount, "/dev/shm") && rf_unmount(*mount)) perror(*mount);
}

static void end_job(struct rf_guardian* g) {
  rf_ask_far_launchers(g);
  /* Stopped first: a thread that we release must not do without us what it was parked for. */
  rf_stop_all(g);
  rf_control_release_all(g->control_path);
  rf_kill_hard(g);
  rf_kill_over(g);
}

/* `leave`: the job ended by itself; the processes and files that it left are left alone. */
static void finish(struct rf_guardian* g, int leave) {
  rf_load_end(g, 0);
  if (leave)
    rf_control_release_all(g->control_path);
  else
    end_job(g);
  unmount_all(g);
  undo(g, leave);
  while (g->queue && g->socket >= 0) { /* bounded: a tool that does not read for 10 s counts as gone */
    struct pollfd out = {.fd = g->socket, .events = POLLOUT};
    if (poll(&out, 1, 10000) <= 0) break;
    rf_flush(g);
  }
  exit(0);
}

static void tool_gone(struct rf_guardian* g) {
  close(g->socket);
  g->socket = -1;
  finish(g, 0);
}

static int drain(int fd) {
  char bytes[4096];
  int any = 0;
  while (read(fd, bytes, sizeof bytes) > 0) any = 1;
  return any;
}

/* A look may have missed files that were made while it was in progress. */
static void look_until_quiet(struct rf_guardian* g) {
  drain(g->files);
  for (int looks = 0; looks == 0 || (looks < 4 && drain(g->files)); ++looks) look(g);
}

static void read_request(struct rf_guardian* g) {
  static char buffer[RF_GUARDIAN_PACKET];
  struct rf_guardian_packet in, done = {.message = RF_G_CENSUS_DONE};
  const ssize_t n = recv(g->socket, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < (ssize_t)sizeof in) tool_gone(g);
  memcpy(&in, buffer, sizeof in);
  switch (in.message) {
    case RF_G_SPAWN:
      do_spawn(g, &in, buffer + sizeof in, (size_t)n - sizeof in);
      break;
    case RF_G_KILL:
      rf_kill_begin(g, in.a, in.time_ns);
      break;
    case RF_G_CENSUS:
      look_until_quiet(g);
      done.tag = in.tag;
      done.a = (int32_t)g->census.known_count;
      done.time_ns = rf_now_ns();
      rf_say(g, &done, NULL, 0);
      break;
    case RF_G_LOAD:
      do_load(g, &in);
      break;
    case RF_G_QUIT:
      finish(g, in.a);
      break;
    default:
      break;
  }
}

static int timeout_ms(const struct rf_guardian* g, int busy) {
  uint64_t next = busy ? g->census_at : UINT64_MAX;
  if (g->ending && g->kill_at < next) next = g->kill_at;
  if (next == UINT64_MAX) return -1;
  const uint64_t now = rf_now_ns();
  return next <= now ? 0 : (int)((next - now + 999999) / 1000000);
}

static void watch(struct rf_guardian* g) {
  for (;;) {
    const int busy = rf_reap(g);
    const uint64_t now = rf_now_ns();
    if (g->ending && busy && now >= g->kill_at) rf_kill_hard(g);
    if (g->ending && !rf_reap(g)) rf_kill_over(g);
    if (busy && now >= g->census_at) look(g);

    struct pollfd fds[4] = {{.fd = g->socket, .events = (short)(POLLIN | (g->queue ? POLLOUT : 0))},
                            {.fd = g->tool, .events = POLLIN},
                            {.fd = g->signals, .events = POLLIN},
                            {.fd = g->files, .events = POLLIN}};
    if (poll(fds, 4, timeout_ms(g, busy)) < 0) continue;
    if (fds[3].revents) {
      drain(g->files);
      if (busy) name_appeared(g);
    }
    if (fds[2].revents) drain(g->signals);
    if (fds[0].revents & POLLOUT) rf_flush(g);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) read_request(g);
    if (fds[1].revents) tool_gone(g);
  }
}

static int watch_signals(void) {
  const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE, SIGXFSZ,
                         SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; ++i)
    sigaction(ignored[i], &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP}, NULL);
  sigprocmask(SIG_SETMASK, &child, NULL);
  return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The tool made the socket pair, so the kernel knows its pid even if it died before we ran. */
static int watch_tool(int socket) {
  struct ucred maker;
  socklen_t bytes = sizeof maker;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &bytes) || maker.pid != getppid()) return -1;
  const int fd = (int)syscall(SYS_pidfd_open, maker.pid, 0);
  return getppid() == maker.pid ? fd : -1;
}

static int watch_files(void) {
  const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) return -1;
  inotify_add_watch(fd, "/dev/shm", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  inotify_add_watch(fd, "/tmp", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  inotify_add_watch(fd, "/var/tmp", IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  return fd;
}

/* Held until we end: `clean` waits for it before it takes over. */
static void hold_lock(const char* run_dir) {
  char path[4096];
  snprintf(path, sizeof path, "%s/guardian.lock", run_dir);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) flock(fd, LOCK_EX);
}

int main(int argc, char** argv) {
  struct rf_guardian g = {0};
  struct stat tmp;
  if (argc < 7 || argc % 2 == 0) {
    fprintf(stderr, "rankfault-guardian is started by rankfault, not by hand\n");
    return 64;
  }
  rf_read_inherited(&g.inherited);
  g.socket = atoi(argv[1]);
  g.control_path = argv[2];
  g.undo_path = argv[3];
  g.run_dir = argv[4];
  g.tmp_dir = argv[5];
  g.queue_end = &g.queue;
  g.mounts = argv + 7;
  if (mount_all(&g)) { /* before any process looks into them */
    perror("mount a small file system");
    return 70;
  }
  g.signals = watch_signals();
  g.tool = watch_tool(g.socket);
  g.files = watch_files();
  if (stat(g.tmp_dir, &tmp) == 0) {
    g.tmp_dev = tmp.st_dev;
    g.tmp_ino = tmp.st_ino;
  }
  const int undo_fd = open(g.undo_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fcntl(g.socket, F_SETFD, FD_CLOEXEC) || g.signals < 0 || undo_fd < 0 ||
      prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
    perror("rankfault-guardian");
    return 70;
  }
  const int size = RF_GUARDIAN_PACKET;
  setsockopt(g.socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  setsid();
  if (chdir("/")) return 70;
  hold_lock(g.run_dir);
  rf_census_begin(&g.census, getpid(), undo_fd, g.run_dir, g.tmp_dir);
  g.census.watch = strcmp(argv[6], "watch") == 0;
  for (char** mount = g.mounts; *mount; mount += 2)
    if (strcmp(*mount, "/dev/shm") == 0) g.census.own_shm = 1;
  if (g.tool < 0) tool_gone(&g);
  watch(&g);
}
