/* process.c: who this process is: what the environment claims and what the kernel says. */
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

/* -1 unless it is a plain number. */
static int32_t number_of(const char* text) {
  if (!text || *text < '0' || *text > '9') return -1;
  char* end;
  const long value = strtol(text, &end, 10);
  return *end || value > 0x7ffffffe ? -1 : (int32_t)value;
}

static int32_t first_number(const char* const* names, const char** source) {
  for (; *names; ++names) {
    const int32_t value = number_of(variable(*names));
    if (value < 0) continue;
    if (source) *source = *names;
    return value;
  }
  return -1;
}

/* Every rendezvous of several torchruns has a store of its own, told by its address. */
static uint64_t rendezvous(void) {
  const char* several = variable("RANKFAULT_RENDEZVOUS");
  const char *address = variable("MASTER_ADDR"), *port = variable("MASTER_PORT");
  if (!several || !address || !port || rf_self.rank < 0) return 0;
  return rf_hash_bytes(rf_hash_text(address), port, strlen(port));
}

void rf_read_environment(void) {
  static const char* const ranks[] = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                      "PMI_RANK", "SLURM_PROCID",         NULL};
  static const char* const sizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
  static const char* const locals[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                       "SLURM_LOCALID", NULL};
  static const char* const attempts[] = {"RANKFAULT_ATTEMPT", "TORCHELASTIC_RESTART_COUNT", NULL};
  const char* folder = variable("RANKFAULT_RUN_DIR");
  if (!folder || folder[0] != '/') return;
  if (strlen(folder) + sizeof("/records") > sizeof(rf_self.records)) return;
  strcpy(rf_self.records, folder);
  strcat(rf_self.records, "/records");
  const char* source = "";
  rf_self.rank = first_number(ranks, &source);
  strncpy(rf_self.rank_source, source, sizeof(rf_self.rank_source) - 1);
  rf_self.world_size = first_number(sizes, NULL);
  rf_self.local_rank = first_number(locals, NULL);
  const int32_t attempt = first_number(attempts, NULL);
  rf_self.attempt = attempt < 0 ? 0 : attempt;
  rf_self.rendezvous = rendezvous();
}

/* The first process of a rendezvous takes the next place for all of it. */
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

/* Field 22 of /proc/self/stat; the name before it may hold blanks and parentheses. */
static uint64_t start_time(void) {
  char text[1024];
  if (read_text("/proc/self/stat", text, sizeof(text)) <= 0) return 0;
  const char* at = strrchr(text, ')');
  for (int field = 2; at && field < 22; ++field) at = strchr(at + 1, ' ');
  return at ? strtoull(at + 1, NULL, 10) : 0;
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
  rf_self.start_time = start_time();
  rf_self.image = 0;
}
