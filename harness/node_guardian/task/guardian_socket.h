/* guardian_socket.h: a task's connection to the guardian of its node. */
#ifndef RANKFAULT_GUARDIAN_SOCKET_H
#define RANKFAULT_GUARDIAN_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* Starts the guardian if the node has none yet. Returns a socket, or -1 and the reason. The first task of a
 * node waits for the guardian to listen; the others wait for the first. */
int rf_guardian_socket(char* why, size_t bytes);

/* Both do nothing for socket -1. rf_say_end() waits for the answer, 2 s at most. */
void rf_say_begin(int socket, pid_t task);
void rf_say_end(int socket, pid_t task, int wait_status);

#endif
