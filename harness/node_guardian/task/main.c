/* rankfault-task: the parent of one task that a launcher starts on a node of a job: of a rank under srun, of
 * the daemon under mpirun. It starts the node's guardian if the node has none yet, preloads the agent into
 * the task, tells the guardian of its begin and its end, and ends as the task ended.
 *
 * usage: rankfault-task COMMAND...     (with the variables that the tool sets: see task_environment.h)
 *
 * Whatever fails here, the task runs: without rankfault, and with one line on its standard error. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian_socket.h"
#include "harness/launch/task_environment.h"

static pid_t child;

static void say(const char* what, const char* why) {
  fprintf(stderr, "rankfault: %s: %s; this task runs without rankfault\n", what, why);
}

/* A signal for the task comes to us. The task leads a process group of its own, so it gets what is sent to
 * our group only through us. slurmstepd signals its own children alone if it tracks a step by control groups;
 * otherwise it signals each process of the step, and the task has the signal already. */
static int parent_signals_all;

static void forward(int signal, siginfo_t* info, void* context) {
  (void)context;
  if (child > 0 && !(parent_signals_all && info->si_pid == getppid())) kill(child, signal);
}

static int file_has(const char* path, const char* word) {
  char text[8192];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = 0;
  return strstr(text, word) != NULL;
}

/* Its step is a freezer group (version 1) or any group (version 2), then. */
static int is_tracked_by_groups(void) {
  char line[4096];
  int tracked = 0;
  FILE* groups = fopen("/proc/self/cgroup", "re");
  while (groups && fgets(line, sizeof line, groups))
    if ((strstr(line, ":freezer:") || strncmp(line, "0::", 3) == 0) && strstr(line, "/step_")) tracked = 1;
  if (groups) fclose(groups);
  return tracked;
}

static void look_at_parent(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
  parent_signals_all = file_has(path, "slurmstepd") && !is_tracked_by_groups();
}

/* Not those that we cannot catch, that mean an error of our own, or that say something of our child. */
static int is_forwarded(int signal) {
  static const int kOurs[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (size_t i = 0; i < sizeof kOurs / sizeof *kOurs; ++i)
    if (signal == kOurs[i]) return 0;
  return 1;
}

static void forward_signals(struct sigaction* before) {
  struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
  look_at_parent();
  for (int signal = 1; signal < NSIG; ++signal) {
    if (!is_forwarded(signal) || sigaction(signal, NULL, &before[signal])) continue;
    if (before[signal].sa_handler != SIG_IGN) sigaction(signal, &action, NULL);
  }
}

/* The loader would print a line in every process for a file that is not there. */
static int all_there(const char* list) {
  char *words = strdup(list), *rest = NULL;
  int there = words != NULL;
  for (char* word = strtok_r(words, ":", &rest); word && there; word = strtok_r(NULL, ":", &rest)) {
    there = access(word, R_OK) == 0;
    if (!there) say("rankfault is not installed on this node", word);
  }
  free(words);
  return there;
}

static void put_preload(void) {
  const char *agent = getenv(RF_TASK_PRELOAD), *before = getenv("LD_PRELOAD");
  char* joined = NULL;
  if (!agent || !*agent || !all_there(agent)) return;
  if (asprintf(&joined, "%s%s%s", agent, before && *before ? ":" : "", before ? before : "") > 0)
    setenv("LD_PRELOAD", joined, 1);
  free(joined);
}

/* Without the page, no fault acts on ranks. */
static void set_control(const char* dir) {
  char path[4096];
  snprintf(path, sizeof path, "%s/control", dir);
  if (access(path, F_OK) == 0) setenv("RANKFAULT_CONTROL", path, 1);
}

/* The key is the guardian's alone. */
static void forget_variables(void) {
  unsetenv(RF_TASK_KEY);
  unsetenv(RF_TASK_TOOL);
  unsetenv(RF_TASK_PRELOAD);
  unsetenv(RF_TASK_DIR);
}

static void become(char** command, const struct sigaction* before, pid_t parent) {
  setpgid(0, 0);
  for (int signal = 1; signal < NSIG; ++signal)
    if (is_forwarded(signal)) sigaction(signal, &before[signal], NULL);
  /* A kill of the task reaches only us: then the task must end, too. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(137);
  execvp(command[0], command);
  if (errno == ENOENT && !strchr(command[0], '/'))
    execv(command[0], command); /* srun takes it from the folder, too */
  const int why = errno;
  fprintf(stderr, "rankfault: cannot start %s: %s\n", command[0], strerror(why));
  _exit(why == ENOENT ? 127 : 126);
}

static int wait_for_task(void) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(-1, &status, 0); /* we are the subreaper of what the task leaves */
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0x7f00;
  }
}

/* Without a core file of our own. */
static int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* a program that takes core files ignores the limit */
  signal(WTERMSIG(status), SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int main(int argc, char** argv) {
  char why[512] = "";
  struct sigaction before[NSIG] = {0};
  if (argc < 2) {
    fprintf(stderr, "rankfault-task is started by rankfault, not by hand\n");
    return 64;
  }
  int guardian = rf_guardian_socket(why, sizeof why);
  if (guardian < 0) say("no guardian on this node", why);
  if (guardian >= 0) {
    const char* dir = getenv(RF_TASK_DIR);
    setenv("RANKFAULT_RUN_DIR", dir, 1);
    setenv("RANKFAULT_JOB", dir, 1);
    set_control(dir);
    put_preload();
  }
  forget_variables();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  forward_signals(before);
  const pid_t self = getpid();
  child = fork();
  if (child == 0) become(argv + 1, before, self);
  if (child < 0) {
    fprintf(stderr, "rankfault: cannot start %s: %s\n", argv[1], strerror(errno));
    return 126;
  }
  rf_say_begin(guardian, child);
  const int status = wait_for_task();
  rf_say_end(guardian, child, status);
  return end_as(status);
}
