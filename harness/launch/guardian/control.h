/* control.h: the guardian's hand on the control page. */
#ifndef RANKFAULT_GUARDIAN_CONTROL_H
#define RANKFAULT_GUARDIAN_CONTROL_H

/* Says that the harness is gone, and wakes every parked thread. No page at `path`: nothing to do. */
void rf_control_release_all(const char* path);

#endif
