/* elf_lookup.c: symbol lookup by DT_GNU_HASH or DT_HASH (System V ABI, chapter 5; "GNU Hash ELF Sections").
 *
 * It calls no function of libc: a sanitizer's runtime looks up libc's own functions by dlsym while it starts,
 * and until then the names of libc that it replaces have no target. */
#define _GNU_SOURCE
#include "harness/agent/elf_lookup.h"

#include <stddef.h>

#define VERSION_IS_HIDDEN 0x8000

uint32_t rf_elf_hash(const char* name) {
  uint32_t h = 5381;
  for (; *name; ++name) h = h * 33 + (unsigned char)*name;
  return h;
}

static uint32_t sysv_hash(const char* name) {
  uint32_t h = 0;
  for (; *name; ++name) {
    h = (h << 4) + (unsigned char)*name;
    h ^= (h >> 24) & 0xf0;
    h &= 0x0fffffff;
  }
  return h;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      return (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); /* NOLINT */
  return NULL;
}

/* The loader relocates most of these; in read-only dynamic sections (the vDSO) they are still offsets. */
static const void* pointer_in(ElfW(Addr) base, ElfW(Addr) p) {
  return (const void*)(p < base ? base + p : p); /* NOLINT */
}

int rf_elf_open(const struct dl_phdr_info* info, struct rf_elf* elf) {
  return rf_elf_read(info->dlpi_addr, dynamic_of(info), elf);
}

int rf_elf_read(ElfW(Addr) base, const ElfW(Dyn) * dynamic, struct rf_elf* elf) {
  *elf = (struct rf_elf){.symbols = NULL};
  uint64_t relative = 0;
  for (const ElfW(Dyn)* d = dynamic; d && d->d_tag != DT_NULL; ++d) {
    const void* to = pointer_in(base, d->d_un.d_ptr);
    if (d->d_tag == DT_GNU_HASH) elf->gnu_hash = to;
    if (d->d_tag == DT_HASH) elf->hash = to;
    if (d->d_tag == DT_SYMTAB) elf->symbols = to;
    if (d->d_tag == DT_STRTAB) elf->strings = to;
    if (d->d_tag == DT_VERSYM) elf->versions = to;
    if (d->d_tag == DT_RELA) elf->relocations[0].first = to;
    if (d->d_tag == DT_RELASZ) elf->relocations[0].count = d->d_un.d_val / sizeof(ElfW(Rela));
    if (d->d_tag == DT_RELACOUNT) relative = d->d_un.d_val;
    if (d->d_tag == DT_JMPREL) elf->relocations[1].first = to;
    if (d->d_tag == DT_PLTRELSZ) elf->relocations[1].count = d->d_un.d_val / sizeof(ElfW(Rela));
  }
  if (relative <= elf->relocations[0].count) {
    elf->relocations[0].first += relative;
    elf->relocations[0].count -= relative;
  }
  return elf->symbols && elf->strings && (elf->gnu_hash || elf->hash) ? 0 : -1;
}

#if defined(__aarch64__)
#define IS_ADDRESS(type) \
  ((type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_ABS64)
#else
#define IS_ADDRESS(type) \
  ((type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_64)
#endif

void rf_elf_relocations(const struct dl_phdr_info* info, const struct rf_elf* elf, rf_elf_visit visit,
                        void* context) {
  for (int kind = 0; kind < 2; ++kind) {
    const ElfW(Rela)* r = elf->relocations[kind].first;
    for (uint64_t left = elf->relocations[kind].count; r && left; --left, ++r) {
      const uint64_t symbol = ELF64_R_SYM(r->r_info);
      if (symbol == 0 || !IS_ADDRESS(ELF64_R_TYPE(r->r_info))) continue;
      visit(info, r, &elf->symbols[symbol], elf->strings + elf->symbols[symbol].st_name, context);
    }
  }
}

static int is_same(const char* a, const char* b) {
  while (*a && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

static int matches(const struct rf_elf* elf, uint32_t i, const char* name) {
  const ElfW(Sym)* s = &elf->symbols[i];
  if (s->st_shndx == SHN_UNDEF || s->st_value == 0) return 0;
  if (elf->versions && elf->versions[i] & VERSION_IS_HIDDEN) return 0;
  return is_same(elf->strings + s->st_name, name);
}

static const ElfW(Sym) * find_by_gnu_hash(const struct rf_elf* elf, const char* name, uint32_t hash) {
  const uint32_t* table = elf->gnu_hash;
  const uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
  const ElfW(Addr)* bloom = (const ElfW(Addr)*)(const void*)&table[4];
  const uint32_t* bucket = (const uint32_t*)(const void*)(bloom + words);
  const uint32_t* chain = bucket + buckets;
  const unsigned bits = sizeof(ElfW(Addr)) * 8;
  const ElfW(Addr) word = bloom[(hash / bits) & (words - 1)];
  if (!((word >> (hash % bits)) & (word >> ((hash >> shift) % bits)) & 1)) return NULL;
  uint32_t i = buckets ? bucket[hash % buckets] : 0;
  if (i < first) return NULL;
  for (;; ++i) {
    if ((chain[i - first] | 1) == (hash | 1) && matches(elf, i, name)) return &elf->symbols[i];
    if (chain[i - first] & 1) return NULL;
  }
}

static const ElfW(Sym) * find_by_hash(const struct rf_elf* elf, const char* name) {
  const uint32_t buckets = elf->hash[0];
  const uint32_t* bucket = &elf->hash[2];
  const uint32_t* chain = bucket + buckets;
  for (uint32_t i = buckets ? bucket[sysv_hash(name) % buckets] : 0; i; i = chain[i])
    if (matches(elf, i, name)) return &elf->symbols[i];
  return NULL;
}

const ElfW(Sym) * rf_elf_find(const struct rf_elf* elf, const char* name, uint32_t hash) {
  return elf->gnu_hash ? find_by_gnu_hash(elf, name, hash) : find_by_hash(elf, name);
}

int rf_elf_holds(const struct dl_phdr_info* info, const void* address) {
  const ElfW(Addr) a = (ElfW(Addr))address;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && a - info->dlpi_addr - p->p_vaddr < p->p_memsz) return 1;
  }
  return 0;
}
