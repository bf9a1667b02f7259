/* spawn.h: starts one program of the job from a RF_G_SPAWN packet. */
#ifndef RANKFAULT_GUARDIAN_SPAWN_H
#define RANKFAULT_GUARDIAN_SPAWN_H

#include <stddef.h>

struct rf_spawn {
  const char *cwd, *out, *err; /* "" : inherited; out equal to err: one file */
  char **argv, **env;          /* ended by null; they point into the packet */
};

/* Takes the packet's texts apart; 0, or -1 when it is malformed. Frees nothing on failure. */
int rf_spawn_parse(char* texts, size_t bytes, int argc, int envc, struct rf_spawn*);
void rf_spawn_free(struct rf_spawn*);

/* The pid; or -1 with *error = errno of the call that refused, and *tried naming it. */
int rf_spawn_run(const struct rf_spawn*, int* error, char* tried, size_t tried_bytes);

#endif
