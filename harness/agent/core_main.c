/* core_main: the start of the preloaded core, and the table that it offers to decoders.
 *
 * Rules of the whole agent: if anything is wrong, pass the call through and note it in the record. Never
 * change errno, a result or a timing unless an action requires it. On the hot path (after the first call of
 * each function per thread) no allocation, no lock, no log, no system call except the vDSO clock. The harness
 * must be able to read the record after SIGKILL at any instant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RF_CORE_TABLE_DEFINED_HERE
#include "harness/agent/agent.h"
#include "harness/agent/exports.h"
#include "harness/agent/lock.h"
#include "harness/agent/sys.h"

static const uint64_t nothing_armed[2];
struct rf_control* rf_control;
const uint64_t* rf_armed_ops = nothing_armed;

static uint32_t started;
static char decoder_folder[RF_PATH_BYTES * 2];

int rf_inert(void) { return !rf_self.records[0]; }
const char* rf_decoder_folder(void) { return decoder_folder; }

/* Without a control page, or with one of another version, nothing is armed and recording continues. */
static void map_control(const char* path) {
  if (!path || path[0] != '/') return;
  const int fd = rf_sys_open(path, O_RDWR, 0);
  if (fd < 0) return;
  struct rf_control* page = NULL;
  if (rf_sys6(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0) >= (long)sizeof(*page))
    page = rf_sys_map(sizeof(*page), MAP_SHARED, fd, 0);
  rf_sys_close(fd);
  if (!page) return;
  if (RF_LOAD(&page->magic) != RF_CONTROL_MAGIC || page->abi_version != RF_ABI_VERSION ||
      page->control_bytes != sizeof(*page)) {
    rf_sys_unmap(page, sizeof(*page));
    return;
  }
  rf_control = page;
  rf_armed_ops = page->armed_ops;
}

void rf_start(void) {
  if (RF_LOAD(&started)) return;
  static struct rf_lock starting;
  const int error = errno;
  if (rf_lock_take(&starting) != 0) return;
  if (!started) {
    rf_read_environment();
    if (!rf_inert()) {
      rf_clock_start();
      const char* folder = getenv("RANKFAULT_DECODERS");
      if (folder && strlen(folder) < sizeof(decoder_folder)) strcpy(decoder_folder, folder);
      map_control(getenv("RANKFAULT_CONTROL"));
      if (rf_control && RF_LOAD(&rf_control->harness_gone))
        rf_self.records[0] = 0; /* no harness reads any more */
      rf_count_rendezvous(rf_control);
    }
    RF_STORE(&started, 1u);
    if (rf_self.rank >= 0) rf_open_header(); /* a candidate: it may become a rank */
  }
  rf_lock_give(&starting);
  errno = error;
}

__attribute__((constructor(102))) static void start(void) {
  rf_exports_start();
  rf_count_objects_at_start();
  rf_start();
}

static int in_call(void) { return rf_me.depth; }
static void nest(int by) {
  if (rf_me.depth == 0) rf_me.open = (uintptr_t)__builtin_frame_address(0);
  rf_me.depth += by;
}

static void error_handled(int code) {
  if (code == 0 || rf_me.handled_error == 0) rf_me.handled_error = code;
}
static int handled_error(void) { return rf_me.handled_error; }

const struct rf_core_v1 rf_core = {
    .version = RF_CORE_VERSION,
    .bytes = sizeof(struct rf_core_v1),
    .begin = rf_begin,
    .end = rf_end,
    .end_enqueued = rf_end_enqueued,
    .complete = rf_complete,
    .detail = rf_detail,
    .set_seq = rf_set_seq,
    .comm_add = rf_comm_add,
    .comm_find = rf_comm_find,
    .comm_gone = rf_comm_gone,
    .comm_get = rf_comm_get,
    .become_member = rf_become_member,
    .finalized = rf_finalized,
    .coverage = rf_coverage,
    .opaque = rf_opaque,
    .thread_multiple = rf_thread_multiple,
    .name = rf_name,
    .resolve = rf_resolve_next,
    .in_call = in_call,
    .now_ns = rf_now,
    .nest = nest,
    .inner_armed = rf_inner_armed,
    .inner_begin = rf_inner_begin,
    .inner_end = rf_inner_end,
    .spawned = rf_spawned,
    .told_by_launcher = rf_told_by_launcher,
    .rank = rf_rank,
    .is_library_code = rf_is_library_code,
    .polled = rf_polled,
    .error_handled = error_handled,
    .handled_error = handled_error,
    .upper_armed = rf_upper_armed,
    .upper_begin = rf_upper_begin,
    .upper_end = rf_upper_end,
    .pass_begin = rf_pass_begin,
    .pass_task = rf_pass_task,
    .pass_end = rf_pass_end,
};

__attribute__((visibility("default"))) extern const struct rf_core_table_v1 rankfault_core_table_v1;
const struct rf_core_table_v1 rankfault_core_table_v1 = {
    .version = RF_CORE_TABLE_VERSION,
    .bytes = sizeof(struct rf_core_table_v1),
    .core = &rf_core,
    .file_wanted = rf_file_wanted,
    .file_begin = rf_file_begin,
    .file_end = rf_inner_end,
};
