/* control.h: the guardian's access to the control page. */
#ifndef RANKFAULT_GUARDIAN_CONTROL_H
#define RANKFAULT_GUARDIAN_CONTROL_H

/* Marks the harness as gone, and wakes every parked thread. Does nothing if there is no page at `path`. */
void rf_control_release_all(const char* path);

#endif
