/* holders.h: does a process that is not the job's use a file now? */
#ifndef RANKFAULT_GUARDIAN_HOLDERS_H
#define RANKFAULT_GUARDIAN_HOLDERS_H

#include <stdint.h>

/* The pid of a process that has the file open or mapped and neither is nor descends from `root`
 * (0: any process counts); 0 when there is none, as far as this user may see. */
int rf_holder_outside(int root, const char* path, uint64_t dev, uint64_t ino);

#endif
