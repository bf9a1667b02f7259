/* weak_references.c: clears weak references of the first objects to names that no library defines.
 *
 * The loader binds the first objects of a process before the agent's constructor runs, and finds all names of
 * the agent. A weak reference to a name that no library defines would be null without the agent, so it
 * becomes null. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "harness/agent/elf_lookup.h"
#include "harness/agent/exports.h"
#include "harness/agent/sys.h"

/* The loader protects whole pages and rounds both ends down: a page that RELRO fills only in part also holds
 * data that the program writes. */
static int is_read_only_by_now(const struct dl_phdr_info* info, uintptr_t page_at, uintptr_t page) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type != PT_GNU_RELRO) continue;
    const uintptr_t first = info->dlpi_addr + p->p_vaddr, end = first + p->p_memsz;
    return page_at >= (first & ~(page - 1)) && page_at < (end & ~(page - 1));
  }
  return 0;
}

static void store(const struct dl_phdr_info* info, ElfW(Addr) * slot, ElfW(Addr) value) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
  const int is_read_only = is_read_only_by_now(info, at, page);
  if (is_read_only && rf_sys6(SYS_mprotect, (long)at, (long)page, PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
    return;
  *slot = value;
  if (is_read_only) rf_sys6(SYS_mprotect, (long)at, (long)page, PROT_READ, 0, 0, 0);
}

static void clear_one(const struct dl_phdr_info* info, const ElfW(Rela) * relocation,
                      const ElfW(Sym) * symbol, const char* name, void* unused) {
  (void)unused;
  ElfW(Addr)* slot = (ElfW(Addr)*)(info->dlpi_addr + relocation->r_offset); /* NOLINT */
  const ElfW(Addr) addend = (ElfW(Addr))relocation->r_addend;
  if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
      rf_trampoline_at(*slot - addend) >= 0 && !rf_is_elsewhere(name, rf_elf_hash(name)))
    store(info, slot, addend);
}

static int clear_in(struct dl_phdr_info* info, size_t bytes, void* unused) {
  (void)bytes;
  struct rf_elf elf;
  if (rf_elf_open(info, &elf) == 0) rf_elf_relocations(info, &elf, clear_one, unused);
  return 0;
}

void rf_clear_weak_references(void) { dl_iterate_phdr(clear_in, NULL); }
