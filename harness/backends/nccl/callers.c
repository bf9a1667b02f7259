/* callers.c: identifies the caller of CUDA. Calls that NCCL and the runtime make themselves are not waits of
 * the user and say nothing about the user's streams. The return address shows the caller, because NCCL has
 * its own threads. */
#define _GNU_SOURCE
#include <link.h>

#include "streams.h"

static struct { uintptr_t low, high; } own[2];

struct search {
  uintptr_t address, low, high;
};

static int find_object(struct dl_phdr_info* info, size_t bytes, void* context) {
  struct search* const s = context;
  uintptr_t low = UINTPTR_MAX, high = 0;
  (void)bytes;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (from < low) low = from;
    if (from + info->dlpi_phdr[i].p_memsz > high) high = from + info->dlpi_phdr[i].p_memsz;
  }
  if (s->address < low || s->address >= high) return 0;
  if (!info->dlpi_name || !info->dlpi_name[0]) return 1; /* linked into the program, so it is the user's */
  s->low = low;
  s->high = high;
  return 1;
}

void rf_callers_learn(void) {
  static const char* const kOf[] = {"ncclGetVersion", "cudaStreamSynchronize"};
  for (int i = 0; i < 2; ++i) {
    struct search s = {.address = (uintptr_t)rf_core->resolve(kOf[i])};
    if (s.address) dl_iterate_phdr(find_object, &s);
    own[i].low = s.low;
    own[i].high = s.high;
  }
}

int rf_is_users(const void* return_address) {
  const uintptr_t a = (uintptr_t)return_address;
  if (rf_core->in_call()) return 0;
  return (a < own[0].low || a >= own[0].high) && (a < own[1].low || a >= own[1].high);
}

int rf_is_of_nccl(const void* return_address) {
  const uintptr_t a = (uintptr_t)return_address;
  return a >= own[0].low && a < own[0].high;
}
