/* exports.c: edits the agent's own symbol table, so that a name is visible exactly if a library defines it.
 *
 * In the file each name is an ordinary function, so the loader can bind the first objects of the process
 * before any of our code runs. The constructor then turns each symbol into an IFUNC: from then on the loader,
 * when it binds a reference, calls rf_answer_loader, which checks whether a library defines that name. Two
 * cases remain:
 *   - dlsym() of a name that no library defines must fail with the loader's own error, and an IFUNC that
 *     returns null sets none. So that symbol's value becomes 0, which the loader skips, until the next
 *     dlopen().
 *   - Weak references of the first objects are bound already: weak_references.c clears them.
 * IFUNCs in the file itself crash: programs linked with -z now bind them before the agent is relocated. */
#define _GNU_SOURCE
#include "harness/agent/exports.h"

#include <dlfcn.h>
#include <unistd.h>

#include "harness/agent/agent.h"
#include "harness/agent/elf_lookup.h"
#include "harness/agent/lock.h"
#include "harness/agent/tables.h"

static struct rf_elf own;
static ElfW(Addr) own_base;
static const char here_is_us;
static uint32_t is_ready; /* the symbols are IFUNCs */
static struct rf_lock editing;
static uint32_t hidden_count;
static struct {
  ElfW(Sym) * symbol;
  ElfW(Addr) value;
} hidden[RF_MAX_CALLS]; /* symbols with value 0 for now */

int32_t rf_trampoline_at(uintptr_t address) {
  const uintptr_t offset = address - (uintptr_t)rf_trampolines;
  return offset < (uintptr_t)rf_call_count * RF_TRAMPOLINE_BYTES ? (int32_t)(offset / RF_TRAMPOLINE_BYTES)
                                                                 : -1;
}

static void* trampoline_of(uint32_t index) {
  return (void*)(uintptr_t)(rf_trampolines + (size_t)index * RF_TRAMPOLINE_BYTES +
                            RF_TRAMPOLINE_OFFSET); /* NOLINT */
}

void* rf_answer_loader(uint32_t index) {
  const char* name = rf_call_names[index].symbol;
  return rf_is_elsewhere(name, rf_elf_hash(name)) ? trampoline_of(index) : rf_answer_missing(name);
}

static int find_own(struct dl_phdr_info* info, size_t bytes, void* unused) {
  (void)bytes;
  (void)unused;
  if (!rf_elf_holds(info, &here_is_us)) return 0;
  if (rf_elf_open(info, &own) != 0 || !own.gnu_hash) own.symbols = NULL;
  own_base = info->dlpi_addr;
  return 1;
}

/* Returns the first symbol that others can find, and the one after the last: DT_GNU_HASH has them at the end,
 * sorted by bucket. */
static void own_range(uint32_t* first, uint32_t* end) {
  const uint32_t buckets = own.gnu_hash[0], words = own.gnu_hash[2];
  const uint32_t* bucket = own.gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  uint32_t last = 0;
  *first = own.gnu_hash[1];
  for (uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last >= *first)
    while (!(chain[last - *first] & 1)) ++last;
  *end = last < *first ? *first : last + 1;
}

/* During an edit the pages of the symbol table are writable. The lock prevents one thread from removing that
 * right while another writes. */
static uintptr_t table_page, table_bytes;
static int protect(int rights) {
  return (int)rf_sys6(SYS_mprotect, (long)table_page, (long)table_bytes, rights, 0, 0, 0);
}
static int begin_edit(void) {
  if (rf_lock_take(&editing) != 0) return -1;
  if (protect(PROT_READ | PROT_WRITE) == 0) return 0;
  rf_lock_give(&editing);
  return -1;
}
static void end_edit(void) {
  protect(PROT_READ);
  rf_lock_give(&editing);
}

/* The symbol becomes the resolver of its block. Its size still covers the trampoline after it, so dladdr() of
 * the trampoline finds this name: it takes the last symbol that begins before the address. */
static void make_ifunc(ElfW(Sym) * s) {
  const ElfW(Addr) address = own_base + s->st_value;
  if (rf_trampoline_at(address) < 0) return;
  s->st_value -= RF_TRAMPOLINE_OFFSET;
  s->st_size += RF_TRAMPOLINE_OFFSET;
  s->st_info = (unsigned char)ELF64_ST_INFO(ELF64_ST_BIND(s->st_info), STT_GNU_IFUNC);
}

enum { DLOPEN, DLMOPEN, DLSYM, DLVSYM, NEXT_COUNT };
static const char* const next_names[NEXT_COUNT] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};
static void* next[NEXT_COUNT]; /* the definitions after ours */

static void* next_of(int which) {
  void* found = RF_LOAD(&next[which]);
  if (!found) RF_STORE(&next[which], found = rf_next_function(next_names[which]));
  return found;
}

void rf_exports_start(void) {
  if (RF_LOAD(&is_ready)) return;
  for (int i = 0; i < NEXT_COUNT; ++i)
    next_of(i); /* while there is one thread: they read the loader's list */
  dl_iterate_phdr(find_own, NULL);
  if (!own.symbols) return;
  uint32_t first, end;
  own_range(&first, &end);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  table_page = (uintptr_t)&own.symbols[first] & ~(page - 1);
  table_bytes = (uintptr_t)&own.symbols[end] - table_page;
  rf_clear_weak_references();
  if (begin_edit() != 0) return;
  for (uint32_t i = first; i < end; ++i)
    make_ifunc((ElfW(Sym)*)(uintptr_t)&own.symbols[i]); /* NOLINT: ours */
  RF_STORE(&is_ready, 1u);
  end_edit();
}

/* Hides a name that no library defines, so that dlsym() fails as without the agent. */
static void hide_if_missing(const char* name) {
  if (!RF_LOAD(&is_ready) || !name) return;
  const uint32_t hash = rf_elf_hash(name);
  const ElfW(Sym)* found = rf_elf_find(&own, name, hash);
  if (!found || rf_trampoline_at(own_base + found->st_value) < 0 || rf_is_elsewhere(name, hash)) return;
  if (begin_edit() != 0) return;
  ElfW(Sym)* s = (ElfW(Sym)*)(uintptr_t)found; /* NOLINT: ours */
  const ElfW(Addr) value = RF_LOAD(&s->st_value);
  if (value) {
    hidden[hidden_count].symbol = s;
    hidden[hidden_count].value = value;
    RF_STORE(&hidden_count, hidden_count + 1);
    RF_STORE(&s->st_value, (ElfW(Addr))0);
  }
  end_edit();
}

void rf_check_hidden(void) {
  for (uint32_t i = 0; i < RF_LOAD(&hidden_count); ++i) {
    const char* name = own.strings + hidden[i].symbol->st_name;
    if (rf_is_elsewhere(name, rf_elf_hash(name))) rf_opaque(RF_OPAQUE_COMMUNICATION);
  }
}

/* The next loaded object may define the hidden names. An object that was loaded while they were hidden is
 * checked first, because afterwards nothing shows it. The agent's own dlopen() at a first call also comes
 * here. */
static void show_hidden(void) {
  if (!RF_LOAD(&hidden_count)) return;
  rf_check_hidden();
  if (begin_edit() != 0) return;
  for (; hidden_count; RF_STORE(&hidden_count, hidden_count - 1))
    RF_STORE(&hidden[hidden_count - 1].symbol->st_value, hidden[hidden_count - 1].value);
  end_edit();
}

static struct rf_loader_step go_on(int which) { return (struct rf_loader_step){next_of(which), 0}; }

struct rf_loader_step rf_on_dlopen(void) {
  show_hidden();
  rf_forget_callers();
  return go_on(DLOPEN);
}

struct rf_loader_step rf_on_dlmopen(void) {
  show_hidden();
  rf_forget_callers();
  return go_on(DLMOPEN);
}

/* Returns the trampoline of the name if its target is what was found; else what was found. */
static void* recorded(const char* name, void* found) {
  const ElfW(Sym)* ours = found ? rf_elf_find(&own, name, rf_elf_hash(name)) : NULL;
  const int32_t index = ours ? rf_trampoline_at(own_base + ours->st_value) : -1;
  return index >= 0 && rf_is_next_definition(name, found) ? trampoline_of((uint32_t)index) : found;
}

/* A handle of its own leads past the agent. The loader handles two cases itself: names that we do not record,
 * and requests relative to the order of all objects, which depend on the caller. */
static int is_ours_to_answer(const void* handle, const char* name) {
  if (!RF_LOAD(&is_ready) || !name || handle == RTLD_DEFAULT || handle == RTLD_NEXT || rf_me.in_core)
    return 0;
  const ElfW(Sym)* found = rf_elf_find(&own, name, rf_elf_hash(name));
  return found && rf_trampoline_at(own_base + found->st_value) >= 0;
}

void* rf_dlsym(void* handle, const char* name) {
  void* (*real)(void*, const char*);
  *(void**)(&real) = next_of(DLSYM);
  return real(handle, name);
}

struct rf_loader_step rf_on_dlsym(void* handle, const char* name) {
  hide_if_missing(name);
  if (!is_ours_to_answer(handle, name)) return go_on(DLSYM);
  return (struct rf_loader_step){recorded(name, rf_dlsym(handle, name)), 1};
}

struct rf_loader_step rf_on_dlvsym(void* handle, const char* name, const char* version) {
  hide_if_missing(name);
  if (!is_ours_to_answer(handle, name)) return go_on(DLVSYM);
  void* (*real)(void*, const char*, const char*);
  *(void**)(&real) = next_of(DLVSYM);
  return (struct rf_loader_step){recorded(name, real(handle, name, version)), 1};
}
