/* elf_lookup.h: reads the dynamic symbol table of a loaded object without the loader's own functions, which
 * take locks, allocate, and change the result of dlerror(). Safe in any thread; nothing here writes. */
#ifndef RANKFAULT_AGENT_ELF_LOOKUP_H
#define RANKFAULT_AGENT_ELF_LOOKUP_H

#include <link.h>
#include <stdint.h>

/* The parts of one loaded object that a lookup needs, as pointers into the object. */
struct rf_elf {
  const ElfW(Sym) * symbols;
  const char* strings;
  const uint32_t* gnu_hash; /* null if the object has none */
  const uint32_t* hash;     /* DT_HASH; null if the object has none */
  const ElfW(Half) * versions;
  struct {
    const ElfW(Rela) * first;
    uint64_t count;
  } relocations[2]; /* of data, without those that name no symbol; of calls */
};

/* Returns 0 if the object has a symbol table. `base`: its load address; `dynamic`: its dynamic section. */
int rf_elf_read(ElfW(Addr) base, const ElfW(Dyn) * dynamic, struct rf_elf* elf);
int rf_elf_open(const struct dl_phdr_info* info, struct rf_elf* elf);

/* Returns the default version of a symbol that the object defines; null if it defines none. `hash`:
 * rf_elf_hash. */
const ElfW(Sym) * rf_elf_find(const struct rf_elf* elf, const char* name, uint32_t hash);
uint32_t rf_elf_hash(const char* name);

/* Calls `visit` for each place of the object that holds the address of a symbol. */
typedef void (*rf_elf_visit)(const struct dl_phdr_info* info, const ElfW(Rela) * relocation,
                             const ElfW(Sym) * symbol, const char* name, void* context);
void rf_elf_relocations(const struct dl_phdr_info* info, const struct rf_elf* elf, rf_elf_visit visit,
                        void* context);

/* Whether the address is in a loaded segment of the object. */
int rf_elf_holds(const struct dl_phdr_info* info, const void* address);

#endif /* RANKFAULT_AGENT_ELF_LOOKUP_H */
