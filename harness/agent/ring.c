/* ring.c: the file of the flight record: opens, allocates, maps and closes it, and decides which process owns
 * it after a fork. The agent keeps no descriptor. Space is allocated before it is mapped: a file that was
 * only extended causes SIGBUS in the workload when the disk is full. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/lock.h"
#include "harness/agent/python.h"
#include "harness/agent/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const uint32_t nobody = 0;
const uint32_t* rf_mine = &nobody;
struct rf_header* rf_head;
struct rf_lane* rf_lanes;
struct rf_comm* rf_comms;
char* rf_names;
int32_t* rf_members;
struct rf_record* rf_history[RF_MAX_LANES + 1];

static uint32_t* flag_page; /* rf_mine, writable */
static uint32_t epoch;      /* of the newest record; an ordinary variable, so children continue the count */
static int body_is_open;
static int refused_pid; /* the disk refused this process's record: do not try again */
static int missed_pid;  /* this process made a call that is in no record */
static const char kEnding[] = ".ring";
static char path[RF_PATH_BYTES * 3];
static struct rf_lock opening;

int rf_is_recording(void) { return RF_LOAD(rf_mine) != 0; }

void rf_set_partial(uint32_t bit) {
  if (rf_is_recording()) __atomic_fetch_or(&rf_head->partial, bit, __ATOMIC_RELEASE);
}

/* Counts are one short from now on. Repeated when the header is opened, so that one of the two sides sees the
 * other. */
static void note_missed_call(void) {
  RF_STORE(&missed_pid, rf_sys_pid());
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  rf_set_partial(RF_PARTIAL_LANES);
}

static void publish_missed_calls(int pid) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (RF_LOAD(&missed_pid) == pid) rf_set_partial(RF_PARTIAL_LANES);
}

void rf_set_stage(uint32_t stage) {
  if (rf_is_recording() && RF_LOAD(&rf_head->stage) < stage) RF_STORE(&rf_head->stage, stage);
}

/* fallocate sends SIGXFSZ beyond the limit, so the limit is checked first. */
static int within_size_limit(uint64_t bytes) {
  struct rlimit limit;
  if (rf_sys6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0) return 1;
  return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Writes zeros if the file system has no fallocate. */
static int write_zeros(int fd, uint64_t offset, uint64_t bytes) {
  static const char zeros[4096];
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t left = bytes - done;
    const long n = rf_sys6(SYS_pwrite64, fd, (long)zeros, (long)(left < sizeof(zeros) ? left : sizeof(zeros)),
                           (long)(offset + done), 0, 0);
    if (n <= 0) return -1;
    done += (uint64_t)n;
  }
  return 0;
}

static void* allocate_and_map(int fd, uint64_t offset, uint64_t bytes) {
  if (!within_size_limit(offset + bytes)) return NULL;
  long rc;
  do rc = rf_sys6(SYS_fallocate, fd, 0, (long)offset, (long)bytes, 0, 0);
  while (rc == -4 /* EINTR */);
  if (rc == -95 || rc == -38) rc = write_zeros(fd, offset, bytes); /* EOPNOTSUPP, ENOSYS */
  if (rc != 0) return NULL;
  void* at = rf_sys_map(bytes, MAP_SHARED, fd, offset);
  if (at) rf_sys_advise(at, bytes, MADV_DONTFORK);
  return at;
}

/* The same for a later part of the process's own file, reopened by its absolute path. */
static void* grow(uint64_t offset, uint64_t bytes) {
  const int fd = rf_sys_open(path, O_RDWR | O_NOFOLLOW, 0);
  if (fd < 0) return NULL;
  void* at = allocate_and_map(fd, offset, bytes);
  rf_sys_close(fd);
  return at;
}

void* rf_map_beside_record(const char* ending, uint64_t offset, uint64_t bytes) {
  char beside[sizeof(path)];
  const size_t stem = strlen(path) - strlen(kEnding);
  if (stem + strlen(ending) >= sizeof(beside)) return NULL;
  memcpy(beside, path, stem);
  strcpy(beside + stem, ending);
  const int fd = rf_sys_open(beside, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (fd < 0) return NULL;
  void* at = allocate_and_map(fd, offset, bytes);
  rf_sys_close(fd);
  return at;
}

static int make_flag_page(void) {
  if (flag_page) return 0;
  uint32_t* page = rf_sys_map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!page) return -1;
  if (rf_sys_advise(page, 4096, MADV_WIPEONFORK) != 0) {
    rf_sys_unmap(page, 4096);
    return -1; /* older than Linux 4.14: a child would write into its parent's record */
  }
  flag_page = page;
  rf_mine = page;
  return 0;
}

/* O_EXCL: exec keeps pid and start time, so the image number is the first free one. */
static int create_file(void) {
  for (rf_self.image = 0; rf_self.image < 1000; ++rf_self.image) {
    snprintf(path, sizeof(path), "%s/%016llx.%llu.%d.%llu.%d%s", rf_self.records,
             (unsigned long long)rf_self.host_id, (unsigned long long)rf_self.pid_ns, rf_self.pid,
             (unsigned long long)rf_self.start_time, rf_self.image, kEnding);
    const int fd = rf_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd != -17 /* EEXIST */) return fd;
  }
  return -1;
}

/* Records the file of standard output, because a launcher that renumbers ranks does not say which rank wrote
 * it. */
static void read_output(struct rf_header* h) {
  const long got = rf_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/fd/1", (long)h->output,
                           sizeof(h->output) - 1, 0, 0);
  if (got <= 0 || h->output[0] != '/') memset(h->output, 0, sizeof(h->output));
}

static void fill_header(struct rf_header* h) {
  struct timespec wall;
  h->abi_version = RF_ABI_VERSION;
  h->header_bytes = RF_HEADER_BYTES;
  h->host_id = rf_self.host_id;
  h->pid_ns = rf_self.pid_ns;
  h->pid = rf_self.pid;
  h->image = rf_self.image;
  h->start_time = rf_self.start_time;
  h->opened_ns = rf_now();
  clock_gettime(CLOCK_REALTIME, &wall);
  h->opened_realtime_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
  h->stage = rf_self.rank >= 0 ? RF_STAGE_CANDIDATE : RF_STAGE_STRANGER;
  h->rank = rf_self.rank;
  h->world_size = rf_self.world_size;
  h->local_rank = rf_self.local_rank;
  h->attempt = rf_self.attempt;
  memcpy(h->env_rank_source, rf_self.rank_source, sizeof(h->env_rank_source));
  read_output(h);
  rf_arm_death_notice(h);
  RF_STORE(&h->magic, RF_RING_MAGIC);
}

static int open_header_locked(void) {
  if (rf_is_recording()) return 0;
  if (rf_inert() || make_flag_page() != 0) return -1;
  const int pid = rf_sys_pid();
  if (refused_pid == pid) return -1;
  rf_read_identity();
  const int fd = create_file();
  struct rf_header* head = fd >= 0 ? allocate_and_map(fd, 0, RF_HEADER_BYTES) : NULL;
  if (fd >= 0) rf_sys_close(fd);
  if (!head) {
    if (fd >= 0) rf_sys6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
    refused_pid = pid;
    return -1;
  }
  body_is_open = 0;
  memset(rf_history, 0, sizeof(rf_history));
  rf_comms_reset();
  rf_names_reset();
  rf_actions_reset();
  fill_header(head);
  rf_head = head;
  if (++epoch == 0) epoch = 1;
  RF_STORE(flag_page, epoch);
  publish_missed_calls(pid);
  rf_announce_again();
  rf_watch_exits();
  return 0;
}

static int open_locked(int (*open)(void)) {
  if (rf_inert()) return -1;
  const int error = errno;
  int rc = -1;
  if (rf_lock_take(&opening) == 0) {
    rc = open();
    rf_lock_give(&opening);
  }
  if (rc != 0) note_missed_call();
  errno = error;
  return rc;
}

int rf_open_header(void) { return rf_is_recording() ? 0 : open_locked(open_header_locked); }

static int open_body_locked(void) {
  if (open_header_locked() != 0) return -1;
  if (body_is_open) return 0;
  if (refused_pid == rf_self.pid) return -1;
  char* body = grow(RF_OFF_LANES, RF_OFF_HISTORY - RF_OFF_LANES);
  if (!body) {
    refused_pid = rf_self.pid;
    rf_set_partial(RF_PARTIAL_HISTORY | RF_PARTIAL_LANES | RF_PARTIAL_COMMS);
    return -1;
  }
  rf_lanes = (struct rf_lane*)(void*)body;
  rf_comms = (struct rf_comm*)(void*)(body + (RF_OFF_COMMS - RF_OFF_LANES));
  rf_names = body + (RF_OFF_NAMES - RF_OFF_LANES);
  rf_members = (int32_t*)(void*)(body + (RF_OFF_MEMBERS - RF_OFF_LANES));
  RF_STORE(&rf_head->names_used, 1u); /* offset 0 means: no name */
  rf_python_find();
  RF_STORE(&body_is_open, 1);
  return 0;
}

int rf_is_open(void) { return rf_is_recording() && RF_LOAD(&body_is_open); }

int rf_open_record(void) { return rf_is_open() ? 0 : open_locked(open_body_locked); }

void rf_map_lane(uint32_t lane) {
  if (rf_history[lane]) return;
  if (rf_lock_take(&opening) != 0) {
    rf_set_partial(RF_PARTIAL_HISTORY); /* this thread's calls are counted but not kept */
    return;
  }
  if (!rf_history[lane]) {
    struct rf_record* records = grow(RF_LANE_HISTORY_OFFSET(lane), RF_LANE_HISTORY_BYTES);
    RF_STORE(&rf_history[lane], records);
    if (records)
      RF_STORE(&rf_lanes[lane].mapped, (uint64_t)1);
    else
      rf_set_partial(RF_PARTIAL_HISTORY);
  }
  rf_lock_give(&opening);
}
