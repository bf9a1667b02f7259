/* exports.h: which of the agent's names a program can see: those that a library of its process has.
 *
 * The agent exports every name that it can record, thousands of them. A program may ask whether one is there,
 * by a weak reference or dlsym(), and must get the answer that it gets without the agent. */
#ifndef RANKFAULT_AGENT_EXPORTS_H
#define RANKFAULT_AGENT_EXPORTS_H

#include <stdint.h>

/* From the constructor, once. Until then all names are visible: the loader binds the first objects before any
 * code of ours runs. */
void rf_exports_start(void);

/* The resolver of all our IFUNC symbols: the trampoline of the name with this index, or null for a weak
 * reference to a name that no library has. Runs inside the loader. */
void* rf_answer_loader(uint32_t index);

/* Run before each dlopen, dlmopen, dlsym and dlvsym of the process: the function to go on with, or the
 * answer. */
struct rf_loader_step {
  void* address;
  uint64_t is_answer;
};
struct rf_loader_step rf_on_dlopen(void);
struct rf_loader_step rf_on_dlmopen(void);
struct rf_loader_step rf_on_dlsym(void* handle, const char* name);
struct rf_loader_step rf_on_dlvsym(void* handle, const char* name, const char* version);

/* The loader's own dlsym: for whoever must find what stands behind the agent. */
void* rf_dlsym(void* handle, const char* name);

/* A library that came while one of its names was hidden may have been bound past the agent: says so in the
 * record. */
void rf_check_hidden(void);

/* Index of the name whose trampoline holds the address; -1: none. */
int32_t rf_trampoline_at(uintptr_t address);

/* missing_names.c: whether an object other than the agent defines the name. `hash`: rf_elf_hash(name). */
int rf_is_elsewhere(const char* name, uint32_t hash);
/* missing_names.c: what the loader does about a reference to a name without a definition: null for a weak
 * one, else its error, which does not return. */
void* rf_answer_missing(const char* name);

/* weak_references.c: makes null what the loader bound to trampolines of names that no library has. */
void rf_clear_weak_references(void);

#endif /* RANKFAULT_AGENT_EXPORTS_H */
