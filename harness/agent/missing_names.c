/* missing_names.c: names that the agent exports and no library of the process defines. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/agent/agent.h"
#include "harness/agent/elf_lookup.h"
#include "harness/agent/exports.h"
#include "harness/agent/tables.h"

static const char here_is_us;

struct search {
  const char* name;
  uint32_t hash;
  int is_found;
};

static int defines(struct dl_phdr_info* info, size_t bytes, void* context) {
  (void)bytes;
  struct search* s = context;
  struct rf_elf elf;
  if (rf_elf_open(info, &elf) != 0 || rf_elf_holds(info, &here_is_us)) return 0;
  s->is_found = rf_elf_find(&elf, s->name, s->hash) != NULL;
  return s->is_found;
}

int rf_is_elsewhere(const char* name, uint32_t hash) {
  struct search s = {name, hash, 0};
  dl_iterate_phdr(defines, &s);
  return s.is_found;
}

/* Which of our names the loaded objects refer to, for the objects that were loaded at that time. A module may
 * have hundreds of weak references to undefined names: one pass looks up all of them. Only the thread that is
 * in the loader comes here. */
#define WEAK 1u
#define STRONG 2u
static uint8_t referred[RF_MAX_CALLS];
static uint64_t referred_as_of;

static void note_reference(const struct dl_phdr_info* info, const ElfW(Rela) * relocation,
                           const ElfW(Sym) * symbol, const char* name, void* context) {
  (void)info;
  (void)relocation;
  (void)context;
  if (symbol->st_shndx != SHN_UNDEF) return;
  const int32_t index = rf_index_of(name);
  if (index >= 0) referred[index] |= ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? WEAK : STRONG;
}

static int count_objects(struct dl_phdr_info* info, size_t bytes, void* adds) {
  (void)bytes;
  *(uint64_t*)adds = info->dlpi_adds;
  return 1;
}

static int note_references(struct dl_phdr_info* info, size_t bytes, void* context) {
  (void)bytes;
  struct rf_elf elf;
  if (rf_elf_open(info, &elf) == 0) rf_elf_relocations(info, &elf, note_reference, context);
  return 0;
}

static uint8_t references_to(int32_t index) {
  uint64_t now = 0;
  dl_iterate_phdr(count_objects, &now);
  if (now != referred_as_of) {
    memset(referred, 0, sizeof(referred));
    dl_iterate_phdr(note_references, NULL);
    referred_as_of = now;
  }
  return index >= 0 ? referred[index] : 0;
}

/* The first object with an ordinary reference. */
struct referrer {
  const char* name;
  char path[RF_PATH_BYTES * 2];
};

static void note_referrer(const struct dl_phdr_info* info, const ElfW(Rela) * relocation,
                          const ElfW(Sym) * symbol, const char* name, void* context) {
  (void)relocation;
  struct referrer* r = context;
  if (r->path[0] || symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_WEAK ||
      strcmp(name, r->name) != 0)
    return;
  snprintf(r->path, sizeof(r->path), "%s",
           info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : program_invocation_name);
}

static int find_referrer(struct dl_phdr_info* info, size_t bytes, void* context) {
  (void)bytes;
  struct rf_elf elf;
  if (rf_elf_open(info, &elf) == 0) rf_elf_relocations(info, &elf, note_referrer, context);
  return 0;
}

/* The loader does not say which reference it binds. If objects have both kinds, null is safe: without the
 * agent such a program would not have started. */
void* rf_answer_missing(const char* name) {
  if (references_to(rf_index_of(name)) != STRONG) return NULL;
  struct referrer r = {.name = name};
  dl_iterate_phdr(find_referrer, &r);
  void (*signal_error)(int, const char*, const char*, const char*);
  *(void**)(&signal_error) = rf_next_function("_dl_signal_error"); /* in glibc, version GLIBC_PRIVATE */
  char text[RF_PATH_BYTES];
  snprintf(text, sizeof(text), "undefined symbol: %s", name);
  if (signal_error) signal_error(0, r.path, "symbol lookup error", text);
  return NULL;
}

static int says_no(int* flag) {
  if (flag) *flag = 0;
  return 0;
}

static int refuses(void) { return 5; } /* an error code in each of the libraries; ncclInvalidUsage */

static int ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* The target of a missing name that is called anyway: by a constructor that ran before ours, or after the
 * library was unloaded. */
void* rf_absent(const char* symbol) {
  static const char* const questions[] = {"Initialized", "Finalized", "initialized_", "finalized_", NULL};
  for (int i = 0; questions[i]; ++i)
    if (ends_with(symbol, questions[i])) return (void*)says_no; /* NOLINT */
  return (void*)refuses;                                        /* NOLINT */
}
