/* link_map.c: the next definition of a name after the agent, in load order.
 *
 * dlsym(RTLD_NEXT) is not enough: it looks at the global scope only, and Python loads torch RTLD_LOCAL.
 * So every object loaded after us is asked by its own handle, and its answer counts only if the address
 * lies in that very object (dlsym on a handle also looks into what the object depends on). Objects whose
 * hash table says they have no such name are not asked: that makes a walk cheap, never wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "harness/agent/agent.h"

#define MAX_HOLDERS 16

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
static const char here_is_us;  /* hidden: its address is ours alone, whatever the file is called */

static uint32_t gnu_hash(const char* s) {
  uint32_t h = 5381;
  for (; *s; ++s) h = h * 33 + (unsigned char)*s;
  return h;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      return (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); /* NOLINT */
  return NULL;
}

static int holds(const struct dl_phdr_info* info, const void* address) {
  const ElfW(Addr) a = (ElfW(Addr))address;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && a - info->dlpi_addr - p->p_vaddr < p->p_memsz) return 1;
  }
  return 0;
}

/* The loader relocated most of these; in read-only dynamic sections (the vDSO) they are still offsets. */
static const void* pointer_in(const struct dl_phdr_info* info, ElfW(Addr) p) {
  return (const void*)(p < info->dlpi_addr ? info->dlpi_addr + p : p); /* NOLINT */
}

static int defines(const struct dl_phdr_info* info, const char* symbol, uint32_t hash) {
  const uint32_t* table = NULL;
  const ElfW(Sym)* symbols = NULL;
  const char* strings = NULL;
  for (const ElfW(Dyn)* d = dynamic_of(info); d && d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_GNU_HASH) table = pointer_in(info, d->d_un.d_ptr);
    if (d->d_tag == DT_SYMTAB) symbols = pointer_in(info, d->d_un.d_ptr);
    if (d->d_tag == DT_STRTAB) strings = pointer_in(info, d->d_un.d_ptr);
  }
  if (!table || !symbols || !strings) return 1; /* cannot tell: ask it */
  const uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
  const ElfW(Addr)* bloom = (const ElfW(Addr)*)(const void*)&table[4];
  const uint32_t* bucket = (const uint32_t*)(const void*)(bloom + words);
  const uint32_t* chain = bucket + buckets;
  const unsigned bits = sizeof(ElfW(Addr)) * 8;
  const ElfW(Addr) word = bloom[(hash / bits) & (words - 1)];
  if (!((word >> (hash % bits)) & (word >> ((hash >> shift) % bits)) & 1)) return 0;
  uint32_t i = buckets ? bucket[hash % buckets] : 0;
  if (i < first) return 0;
  for (;; ++i) {
    if ((chain[i - first] | 1) == (hash | 1) && symbols[i].st_shndx != SHN_UNDEF &&
        strcmp(strings + symbols[i].st_name, symbol) == 0)
      return 1;
    if (chain[i - first] & 1) return 0;
  }
}

static int visit(struct dl_phdr_info* info, size_t bytes, void* context) {
  if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs)) objects_added = (uint32_t)info->dlpi_adds;
  struct walk* w = context;
  if (!w->past_us) {
    w->past_us = holds(info, &here_is_us);
    return 0;
  }
  if (!info->dlpi_name || !info->dlpi_name[0] || strlen(info->dlpi_name) >= sizeof(w->holder[0].name))
    return 0;
  if (!defines(info, w->symbol, w->hash)) return 0;
  w->holder[w->count].base = info->dlpi_addr;
  strcpy(w->holder[w->count].name, info->dlpi_name);
  return ++w->count == MAX_HOLDERS;
}

void* rf_resolve_next(const char* symbol) {
  struct walk w;
  w.symbol = symbol;
  w.hash = gnu_hash(symbol);
  w.past_us = w.count = 0;
  dl_iterate_phdr(visit, &w);
  for (int i = 0; i < w.count; ++i) {
    void* handle = dlopen(w.holder[i].name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    void* found = dlsym(handle, symbol);
    Dl_info where;
    struct link_map* map = NULL;
    if (found && dladdr1(found, &where, (void**)&map, RTLD_DL_LINKMAP) && map &&
        map->l_addr == w.holder[i].base)
      return found; /* the handle is kept: what we hold a pointer into stays loaded */
    dlclose(handle);
  }
  return NULL;
}

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
