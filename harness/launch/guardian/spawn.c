/* spawn.c: see spawn.h. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static char* take_text(char** at, char* end) {
  char* text = *at;
  char* zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
  if (!zero) return NULL;
  *at = zero + 1;
  return text;
}

static char** take_list(char** at, char* end, int count) {
  char** list = count >= 0 && count < 65536 ? calloc((size_t)count + 1, sizeof *list) : NULL;
  for (int i = 0; list && i < count; ++i)
    if (!(list[i] = take_text(at, end))) {
      free(list);
      return NULL;
    }
  return list;
}

int rf_spawn_parse(char* texts, size_t bytes, int argc, int envc, struct rf_spawn* spawn) {
  char *at = texts, *end = texts + bytes;
  memset(spawn, 0, sizeof *spawn);
  spawn->cwd = take_text(&at, end);
  spawn->out = take_text(&at, end);
  spawn->err = take_text(&at, end);
  if (!spawn->cwd || !spawn->out || !spawn->err || argc < 1) return -1;
  spawn->argv = take_list(&at, end, argc);
  spawn->env = spawn->argv ? take_list(&at, end, envc) : NULL;
  if (spawn->env) return 0;
  rf_spawn_free(spawn);
  return -1;
}

void rf_spawn_free(struct rf_spawn* spawn) {
  free(spawn->argv);
  free(spawn->env);
  spawn->argv = spawn->env = NULL;
}

enum step { STEP_CWD, STEP_OUT, STEP_ERR, STEP_EXEC };

static void refuse(int pipe_fd, enum step step) {
  const int report[2] = {errno, (int)step};
  if (write(pipe_fd, report, sizeof report) < 0) _exit(126);
  _exit(127);
}

void rf_read_inherited(struct rf_inherited* inherited) {
  struct sigaction action;
  sigemptyset(&inherited->ignored);
  sigprocmask(SIG_SETMASK, NULL, &inherited->blocked);
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
      sigaddset(&inherited->ignored, signal);
}

static void set_signals(const struct rf_inherited* inherited) {
  sigset_t none;
  sigemptyset(&none);
  for (int signal = 1; signal < NSIG; ++signal) {
    const int ignored = inherited && sigismember(&inherited->ignored, signal) == 1;
    if (signal != SIGKILL && signal != SIGSTOP)
      sigaction(signal, &(struct sigaction){.sa_handler = ignored ? SIG_IGN : SIG_DFL}, NULL);
  }
  sigprocmask(SIG_SETMASK, inherited ? &inherited->blocked : &none, NULL);
}

static void become(const struct rf_spawn* s, const struct rf_inherited* inherited, int pipe_fd) {
  set_signals(inherited);

  if (s->cwd[0] && chdir(s->cwd)) refuse(pipe_fd, STEP_CWD);
  const int flags = O_WRONLY | O_CREAT | O_APPEND;
  if (s->out[0]) {
    const int out = open(s->out, flags | O_CLOEXEC, 0644);
    if (out < 0 || dup2(out, 1) < 0) refuse(pipe_fd, STEP_OUT);
  }
  if (s->err[0]) {
    const int err = strcmp(s->out, s->err) == 0 ? 1 : open(s->err, flags | O_CLOEXEC, 0644);
    if (err < 0 || dup2(err, 2) < 0) refuse(pipe_fd, STEP_ERR);
  }
  if (!inherited) syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  environ = s->env; /* so that PATH is the job's */
  execvp(s->argv[0], s->argv);
  refuse(pipe_fd, STEP_EXEC);
}

int rf_spawn_run(const struct rf_spawn* s, const struct rf_inherited* inherited, int* error, char* tried,
                 size_t tried_bytes) {
  int ends[2], report[2];
  snprintf(tried, tried_bytes, "start %s", s->argv[0]);
  if (pipe2(ends, O_CLOEXEC)) {
    *error = errno;
    return -1;
  }
  const int pid = fork();
  if (pid == 0) become(s, inherited, ends[1]);
  *error = errno;
  close(ends[1]);
  ssize_t n = 0;
  if (pid > 0) do
      n = read(ends[0], report, sizeof report);
    while (n < 0 && errno == EINTR);
  close(ends[0]);
  if (pid > 0 && n != sizeof report) return pid;
  if (pid > 0) {
    waitpid(pid, NULL, 0);
    *error = report[0];
    const char* what[] = {"enter", "write", "write", "start"};
    const char* which[] = {s->cwd, s->out, s->err, s->argv[0]};
    snprintf(tried, tried_bytes, "%s %s", what[report[1] & 3], which[report[1] & 3]);
  }
  return -1;
}
