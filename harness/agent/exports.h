/* exports.h: decides which of the agent's names a program can see: those that a library of its process
 * defines.
 *
 * The agent exports every name that it can record, thousands of them. A program may test by a weak reference
 * or dlsym() whether a name exists, and must get the same answer as without the agent. */
#ifndef RANKFAULT_AGENT_EXPORTS_H
#define RANKFAULT_AGENT_EXPORTS_H

#include <stdint.h>

/* Called once, from the constructor. Before it all names are visible: the loader binds the first objects
 * before any of our code runs. */
void rf_exports_start(void);

/* The resolver of all our IFUNC symbols: returns the trampoline of the name with this index, or null for a
 * weak reference to a name that no library defines. Runs inside the loader. */
void* rf_answer_loader(uint32_t index);

/* Runs before each dlopen, dlmopen, dlsym and dlvsym of the process. Returns the function to call, or the
 * answer. */
struct rf_loader_step {
  void* address;
  uint64_t is_answer;
};
struct rf_loader_step rf_on_dlopen(void);
struct rf_loader_step rf_on_dlmopen(void);
struct rf_loader_step rf_on_dlsym(void* handle, const char* name);
struct rf_loader_step rf_on_dlvsym(void* handle, const char* name, const char* version);

/* The loader's own dlsym, to find the definitions behind the agent. */
void* rf_dlsym(void* handle, const char* name);

/* A library that was loaded while one of its names was hidden may have been bound past the agent. Notes this
 * in the record. */
void rf_check_hidden(void);

/* Returns the index of the name whose trampoline contains the address; -1: none. */
int32_t rf_trampoline_at(uintptr_t address);

/* missing_names.c: whether an object other than the agent defines the name. `hash`: rf_elf_hash(name). */
int rf_is_elsewhere(const char* name, uint32_t hash);
/* missing_names.c: acts like the loader for a reference to an undefined name: returns null for a weak
 * reference, else raises the loader's error, which does not return. */
void* rf_answer_missing(const char* name);

/* weak_references.c: clears the references that the loader bound to trampolines of names that no library
 * defines. */
void rf_clear_weak_references(void);

#endif /* RANKFAULT_AGENT_EXPORTS_H */
