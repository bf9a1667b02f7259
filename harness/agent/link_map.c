/* link_map.c: finds the next definition of a name after the agent, in load order.
 *
 * dlsym(RTLD_NEXT) is not enough: it searches the global scope only, and Python loads torch RTLD_LOCAL. So
 * the code asks every object loaded after the agent by its own handle. The answer counts only if the address
 * is in that very object, because dlsym on a handle also searches the object's dependencies. Objects whose
 * symbol table lacks the name are skipped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/elf_lookup.h"
#include "harness/agent/exports.h"

#define MAX_HOLDERS 2 /* the caller may be on a small stack: a signal handler's */

struct walk {
  const char* symbol;
  uint32_t hash;
  int past_us;
  int count;
  struct {
    ElfW(Addr) base;
    char name[RF_PATH_BYTES * 2];
  } holder[MAX_HOLDERS];
};

static uint32_t objects_added; /* by the loader, since the start */
static const char here_is_us;  /* hidden: its address belongs to the agent only, whatever the file name */

static int visit(struct dl_phdr_info* info, size_t bytes, void* context) {
  if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs)) objects_added = (uint32_t)info->dlpi_adds;
  struct walk* w = context;
  if (!w->past_us) {
    w->past_us = rf_elf_holds(info, &here_is_us);
    return 0;
  }
  if (!info->dlpi_name || !info->dlpi_name[0] || strlen(info->dlpi_name) >= sizeof(w->holder[0].name))
    return 0;
  struct rf_elf elf;
  if (rf_elf_open(info, &elf) == 0 && !rf_elf_find(&elf, w->symbol, w->hash)) return 0;
  w->holder[w->count].base = info->dlpi_addr;
  strcpy(w->holder[w->count].name, info->dlpi_name);
  return ++w->count == MAX_HOLDERS;
}

void* rf_resolve_next(const char* symbol) {
  struct walk w;
  w.symbol = symbol;
  w.hash = rf_elf_hash(symbol);
  w.past_us = w.count = 0;
  dl_iterate_phdr(visit, &w);
  for (int i = 0; i < w.count; ++i) {
    void* handle = dlopen(w.holder[i].name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    void* found = rf_dlsym(handle, symbol);
    Dl_info where;
    struct link_map* map = NULL;
    if (found && dladdr1(found, &where, (void**)&map, RTLD_DL_LINKMAP) && map &&
        map->l_addr == w.holder[i].base)
      return found; /* the handle is kept, so that the object of our pointer stays loaded */
    dlclose(handle);
  }
  return NULL;
}

int rf_is_defined(const char* symbol) {
  struct walk w = {.symbol = symbol, .hash = rf_elf_hash(symbol)};
  dl_iterate_phdr(visit, &w);
  return w.count > 0;
}

struct next_definition {
  struct walk walk;
  const void* address;
  int is_it;
};

static int visit_next(struct dl_phdr_info* info, size_t bytes, void* context) {
  struct next_definition* n = context;
  visit(info, bytes, &n->walk);
  if (n->walk.count == 0) return 0;
  n->is_it = rf_elf_holds(info, n->address);
  return 1;
}

int rf_is_next_definition(const char* symbol, const void* address) {
  struct next_definition n = {.walk = {.symbol = symbol, .hash = rf_elf_hash(symbol)}, .address = address};
  dl_iterate_phdr(visit_next, &n);
  return n.is_it;
}

int rf_same_object(const void* one, const void* other) {
  Dl_info a, b;
  return dladdr(one, &a) && dladdr(other, &b) && a.dli_fbase == b.dli_fbase;
}

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* ours */

/* Uses the loader's own list and no function of libc: a sanitizer's runtime looks up libc's functions by
 * dlsym while it starts, and until then its dl_iterate_phdr has no target. */
static void* symbol_of(const char* symbol, int past_us, uint32_t most) {
  const uint32_t hash = rf_elf_hash(symbol);
  for (const struct link_map* map = _r_debug.r_map; map && most > 0; map = map->l_next, --most) {
    struct rf_elf elf;
    if (!past_us) {
      past_us = map->l_ld == _DYNAMIC;
      continue;
    }
    const ElfW(Sym)* found =
        rf_elf_read(map->l_addr, map->l_ld, &elf) == 0 ? rf_elf_find(&elf, symbol, hash) : NULL;
    if (found) return (void*)(map->l_addr + found->st_value); /* NOLINT */
  }
  return NULL;
}

void* rf_next_function(const char* symbol) { return symbol_of(symbol, 0, UINT32_MAX); }

static uint32_t objects_at_start;

void rf_count_objects_at_start(void) {
  for (const struct link_map* map = _r_debug.r_map; map; map = map->l_next) ++objects_at_start;
}

void* rf_lasting_symbol(const char* symbol) { return symbol_of(symbol, 1, objects_at_start); }

void rf_note_modules(void) {
  if (rf_is_recording()) RF_STORE(&rf_head->modules_version, RF_LOAD(&objects_added));
}

const char* rf_own_folder(void) {
  static char folder[RF_PATH_BYTES * 2];
  Dl_info where;
  if (!folder[0] && dladdr(&here_is_us, &where) && where.dli_fname &&
      strlen(where.dli_fname) < sizeof(folder)) {
    strcpy(folder, where.dli_fname);
    char* slash = strrchr(folder, '/');
    strcpy(slash ? slash + 1 : folder, slash ? "" : "./");
  }
  return folder;
}
