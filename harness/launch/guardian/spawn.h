/* spawn.h: starts one program of the job from a RF_G_SPAWN packet. */
#ifndef RANKFAULT_GUARDIAN_SPAWN_H
#define RANKFAULT_GUARDIAN_SPAWN_H

#include <signal.h>
#include <stddef.h>

/* What the guardian, and rankfault before it, was started with: the signals that were ignored or blocked
 * then, and the descriptors from 3 on, which are all that it keeps open across an exec. A watched job gets
 * them. */
struct rf_inherited {
  sigset_t ignored, blocked;
};
void rf_read_inherited(struct rf_inherited*); /* call before any signal is handled */

struct rf_spawn {
  const char *cwd, *out, *err; /* "" : inherited; out equal to err: one file */
  char **argv, **env;          /* ended by null; they point into the packet */
};

/* Splits the packet's texts; 0, or -1 when the packet is malformed. Frees nothing on failure. */
int rf_spawn_parse(char* texts, size_t bytes, int argc, int envc, struct rf_spawn*);
void rf_spawn_free(struct rf_spawn*);

/* The pid; or -1, with *error the errno of the call that refused and *tried its name. `inherited`: null
 * for a job that inherits nothing. */
int rf_spawn_run(const struct rf_spawn*, const struct rf_inherited* inherited, int* error, char* tried,
                 size_t tried_bytes);

#endif
