/* actions.c: records the actions on this process, in a separate file that exists only if there was an
 * action. */
#include <stdio.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/lock.h"
#include "harness/agent/sys.h"

#define FILE_BYTES (4096u + RF_MAX_ACTION_RECORDS * sizeof(struct rf_action_record))

static struct rf_actions_header* page;
static int32_t owner = -1; /* the pid that opened it: a forked child must not write here */
static struct rf_lock opening;

void rf_actions_reset(void) { owner = -1; }

static int open_file(void) {
  char path[RF_PATH_BYTES * 3];
  if (rf_self.pid != rf_sys_pid()) rf_read_identity();
  snprintf(path, sizeof(path), "%s/%016llx.%llu.%d.%llu.%d.actions", rf_self.records,
           (unsigned long long)rf_self.host_id, (unsigned long long)rf_self.pid_ns, rf_self.pid,
           (unsigned long long)rf_self.start_time, rf_self.image);
  const int fd = rf_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (fd < 0) return -1;
  struct rf_actions_header* h = NULL;
  if (rf_sys6(SYS_fallocate, fd, 0, 0, FILE_BYTES, 0, 0) == 0) h = rf_sys_map(FILE_BYTES, MAP_SHARED, fd, 0);
  rf_sys_close(fd);
  if (!h) return -1;
  rf_sys_advise(h, FILE_BYTES, MADV_DONTFORK);
  h->abi_version = RF_ABI_VERSION;
  h->header_bytes = 4096;
  h->host_id = rf_self.host_id;
  h->pid_ns = rf_self.pid_ns;
  h->start_time = rf_self.start_time;
  h->pid = rf_self.pid;
  h->image = rf_self.image;
  RF_STORE(&h->magic, RF_ACTIONS_MAGIC);
  page = h;
  return 0;
}

static int is_open(void) {
  const int pid = rf_sys_pid();
  if (RF_LOAD(&owner) == pid) return page != NULL;
  if (rf_lock_take(&opening) != 0) return 0;
  if (owner != pid) {
    page = NULL;
    open_file();
    RF_STORE(&owner, pid);
  }
  rf_lock_give(&opening);
  return page != NULL;
}

void rf_note_action(const struct rf_point* point, const struct rf_armed* armed, uint32_t nth, uint32_t effect,
                    uint64_t parked_ns) {
  if (!is_open()) return;
  const uint64_t index = __atomic_fetch_add(&page->claimed, 1, __ATOMIC_RELAXED);
  if (index >= RF_MAX_ACTION_RECORDS) return;
  const struct rf_call* c = point->call;
  const struct rf_comm* comm = rf_comm_get(c->comm);
  struct rf_action_record* r = &((struct rf_action_record*)(void*)((char*)page + 4096))[index];
  r->time_ns = rf_now();
  r->parked_ns = parked_ns;
  r->seq = point->seq;
  r->comm_id = comm ? comm->id : 0;
  r->count = c->count;
  r->arg = armed->arg[0];
  r->action = armed->id;
  r->verb = armed->verb;
  r->effect = effect;
  r->lane = c->lane;
  r->peer = c->peer;
  r->tag = c->tag;
  r->op = c->op;
  r->library = c->library;
  r->edge = (uint8_t)point->edge;
  r->nth = nth;
  RF_STORE(&r->commit, index + 1);
}
