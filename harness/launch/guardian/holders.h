/* holders.h: does a process outside the job use a file now? */
#ifndef RANKFAULT_GUARDIAN_HOLDERS_H
#define RANKFAULT_GUARDIAN_HOLDERS_H

#include <stddef.h>
#include <stdint.h>

#include "file_id.h"

struct rf_held {
  const char* path;
  struct rf_file_id id;
  int holder; /* out: the pid of a process outside that has it open or mapped; 0: none that we may see */
};

/* Looks once at every process that neither is nor descends from `root` (0: every process but us). */
void rf_find_holders(int root, struct rf_held*, size_t);

#endif
