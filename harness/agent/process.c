/* process.c: the identity of this process, from the environment and from the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/agent/agent.h"
#include "harness/agent/sys.h"

struct rf_identity_of_process rf_self = {.rank = -1, .world_size = -1, .local_rank = -1, .pid = -1};

extern char** environ;

static const char* variable(const char* name) {
  const size_t n = strlen(name);
  for (char** e = environ; e && *e; ++e)
    if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') return *e + n + 1;
  return NULL;
}

/* Returns -1 unless the text is a plain number. */
static int32_t number_of(const char* text) {
  if (!text || *text < '0' || *text > '9') return -1;
  char* end;
  const long value = strtol(text, &end, 10);
  return *end || value > 0x7ffffffe ? -1 : (int32_t)value;
}

int rf_told_by_launcher(int32_t* rank, int32_t* size) {
  static const char* const names[][2] = {
#define RF_LAUNCHER(rank, size, local_rank) {rank, size},
#include "harness/agent/launcher_env.def"
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    const int32_t r = number_of(variable(names[i][0]));
    const int32_t s = names[i][1] ? number_of(variable(names[i][1])) : -1;
    if (r < 0 || s < 0) continue;
    *rank = r;
    *size = s;
    return 1;
  }
  return 0;
}

static int32_t first_number(const char* const* names, size_t count, const char** source) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t value = names[i] ? number_of(variable(names[i])) : -1;
    if (value < 0) continue;
    if (source) *source = names[i];
    return value;
  }
  return -1;
}
#define FIRST_NUMBER(names, source) first_number(names, sizeof(names) / sizeof(names[0]), source)

/* Every rendezvous of several torchruns has its own store, identified by its address. */
static uint64_t rendezvous(void) {
  const char* several = variable("RANKFAULT_RENDEZVOUS");
  const char *address = variable("MASTER_ADDR"), *port = variable("MASTER_PORT");
  if (!several || !address || !port || rf_self.rank < 0) return 0;
  return rf_hash_bytes(rf_hash_text(address), port, strlen(port));
}

void rf_read_environment(void) {
  static const char* const ranks[] = {
#define RF_LAUNCHER(rank, size, local_rank) rank,
#include "harness/agent/launcher_env.def"
  };
  static const char* const sizes[] = {
#define RF_LAUNCHER(rank, size, local_rank) size,
#include "harness/agent/launcher_env.def"
  };
  static const char* const locals[] = {
#define RF_LAUNCHER(rank, size, local_rank) local_rank,
#include "harness/agent/launcher_env.def"
  };
  static const char* const attempts[] = {"RANKFAULT_ATTEMPT", "TORCHELASTIC_RESTART_COUNT"};
  const char* folder = variable("RANKFAULT_RUN_DIR");
  if (!folder || folder[0] != '/') return;
  if (strlen(folder) + sizeof("/records") > sizeof(rf_self.records)) return;
  strcpy(rf_self.records, folder);
  strcat(rf_self.records, "/records");
  const char* source = "";
  rf_self.rank = FIRST_NUMBER(ranks, &source);
  strncpy(rf_self.rank_source, source, sizeof(rf_self.rank_source) - 1);
  rf_self.world_size = FIRST_NUMBER(sizes, NULL);
  rf_self.local_rank = FIRST_NUMBER(locals, NULL);
  const int32_t attempt = FIRST_NUMBER(attempts, NULL);
  rf_self.attempt = attempt < 0 ? 0 : attempt;
  rf_self.rendezvous = rendezvous();
}

/* The first process of a rendezvous takes the next index for all processes of that rendezvous. */
void rf_count_rendezvous(struct rf_control* page) {
  if (!page || !rf_self.rendezvous) return;
  for (uint32_t i = 0; i < RF_MAX_RENDEZVOUS; ++i) {
    uint64_t there = 0;
    if (__atomic_compare_exchange_n(&page->rendezvous[i], &there, rf_self.rendezvous, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        there == rf_self.rendezvous) {
      rf_self.attempt = (int32_t)i;
      return;
    }
  }
  rf_self.attempt = (int32_t)RF_MAX_RENDEZVOUS;
}

static long read_text(const char* path, char* to, size_t bytes) {
  const int fd = rf_sys_open(path, O_RDONLY, 0);
  if (fd < 0) return -1;
  const long got = rf_sys_read(fd, to, bytes - 1);
  rf_sys_close(fd);
  to[got < 0 ? 0 : got] = 0;
  return got;
}

/* Returns a field of /proc/PID/stat after the name, which may contain blanks and parentheses. 0 if it cannot
 * be read. */
static uint64_t stat_field(const char* path, int wanted) {
  char text[1024];
  if (read_text(path, text, sizeof(text)) <= 0) return 0;
  const char* at = strrchr(text, ')');
  for (int field = 2; at && field < wanted; ++field) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
}

void rf_read_ancestors(int32_t pids[RF_MAX_ANCESTORS]) {
  char path[32] = "/proc/self/stat";
  for (uint32_t i = 0; i < RF_MAX_ANCESTORS; ++i) {
    pids[i] = (int32_t)stat_field(path, 4);
    if (pids[i] <= 1) {
      pids[i] = 0;
      return;
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", pids[i]);
  }
}

void rf_read_identity(void) {
  char text[128];
  if (!rf_self.host_id && read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text)) > 0) {
    text[strcspn(text, "\n")] = 0;
    rf_self.host_id = rf_hash_text(text);
  }
  /* "pid:[4026531836]": the number is the inode */
  const long got =
      rf_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)text, sizeof(text) - 1, 0, 0);
  text[got < 0 ? 0 : got] = 0;
  const char* bracket = strchr(text, '[');
  rf_self.pid_ns = bracket ? strtoull(bracket + 1, NULL, 10) : 0;
  rf_self.pid = rf_sys_pid();
  rf_self.start_time = stat_field("/proc/self/stat", 22);
  rf_self.image = 0;
}
