/* unix_sockets.h: the file that a socket is bound to, by the socket's inode. Reads /proc/PID/net/unix once
 * for each network namespace in a row of processes. */
#ifndef RANKFAULT_GUARDIAN_UNIX_SOCKETS_H
#define RANKFAULT_GUARDIAN_UNIX_SOCKETS_H

#include <stddef.h>

struct rf_unix_sockets {
  char ns[64]; /* the namespace in which the table was read */
  struct rf_unix_socket {
    unsigned long long ino;
    char path[108];
  } * entries;
  size_t count;
};

void rf_unix_sockets_begin(struct rf_unix_sockets*);
void rf_unix_sockets_end(struct rf_unix_sockets*);
/* The absolute path, or null. Valid until the next call. */
const char* rf_unix_socket_path(struct rf_unix_sockets*, int pid, unsigned long long ino);

#endif
