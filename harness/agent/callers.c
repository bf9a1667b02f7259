/* callers.c: decides whether a call of MPI comes from MPI's own libraries.
 *
 * A library calls its own functions by their public profiling names: MPI-IO of Open MPI calls all-reduces,
 * and a Fortran binding calls the functions of C. Such a call is part of the program's call, also if that
 * call has no wrapper or a thread of the library makes the inner one. The answer for the page of an address
 * is cached, so that a call costs one table lookup. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/elf_lookup.h"

#define PAGES 256u /* a power of two */
#define IS_KNOWN 2u
#define IS_LIBRARY 1u

static uint64_t known[PAGES]; /* page << 2 | IS_KNOWN | IS_LIBRARY; 0: none */

/* A newly loaded object may take the place of an earlier one. */
void rf_forget_callers(void) {
  for (uint32_t i = 0; i < PAGES; ++i) __atomic_store_n(&known[i], 0, __ATOMIC_RELAXED);
}

/* Open MPI's components define no MPI name. The program itself is not a library, even if MPI is linked into
 * it. */
static int is_library(const char* path, ElfW(Addr) base, const ElfW(Dyn) * dynamic) {
  static const char* const kOwn[] = {"PMPI_Init", "pmpi_init_", "pmpi_init_f08_", "mpi_init_"};
  struct rf_elf elf;
  if (!path || !path[0]) return 0;
  const char* name = strrchr(path, '/');
  if (strncmp(name ? name + 1 : path, "mca_", 4) == 0) return 1;
  if (rf_elf_read(base, dynamic, &elf) != 0) return 0;
  for (size_t i = 0; i < sizeof(kOwn) / sizeof(kOwn[0]); ++i)
    if (rf_elf_find(&elf, kOwn[i], rf_elf_hash(kOwn[i]))) return 1;
  return 0;
}

struct search {
  const void* address;
  int is_library;
};

static int visit(struct dl_phdr_info* info, size_t bytes, void* context) {
  (void)bytes;
  struct search* s = context;
  if (!rf_elf_holds(info, s->address)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      s->is_library =
          is_library(info->dlpi_name, info->dlpi_addr,
                     (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr)); /* NOLINT */
  return 1;
}

/* _dl_find_object reads the loader's table without the loader's lock, which a thread that waits for this one
 * may hold. */
static int look(const void* address) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
  static int (*find)(void*, struct dl_find_object*);
  if (!find) *(void**)(&find) = rf_next_function("_dl_find_object");
  struct dl_find_object object;
  if (find && find((void*)(uintptr_t)address, &object) == 0) /* NOLINT: only looked up */
    return is_library(object.dlfo_link_map->l_name, object.dlfo_link_map->l_addr, object.dlfo_link_map->l_ld);
#endif
  struct search s = {address, 0};
  dl_iterate_phdr(visit, &s);
  return s.is_library;
}

static __attribute__((noinline, cold)) int look_and_keep(const void* address, uint64_t page) {
  const int answer = look(address);
  __atomic_store_n(&known[page % PAGES], page << 2 | IS_KNOWN | (answer ? IS_LIBRARY : 0), __ATOMIC_RELAXED);
  return answer;
}

int rf_is_library_code(const void* address) {
  const uint64_t page = (uint64_t)(uintptr_t)address >> 12;
  const uint64_t entry = __atomic_load_n(&known[page % PAGES], __ATOMIC_RELAXED);
  if (entry >> 2 == page && entry & IS_KNOWN) return (int)(entry & IS_LIBRARY);
  return look_and_keep(address, page);
}
