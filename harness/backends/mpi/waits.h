/* waits.h: the requests that a call waits for, looked up before the library is entered. Shared by C's names
 * (waits.c) and Fortran's (fortran_waits.c). */
#ifndef RANKFAULT_MPI_WAITS_H
#define RANKFAULT_MPI_WAITS_H

#include "decoder.h"

enum { RF_WAITED_ON_STACK = 512 };

struct rf_waited {
  int count;
  struct rf_request** entries; /* null if a request is unknown */
  struct rf_request* on_stack[RF_WAITED_ON_STACK];
};

void rf_request_freed(struct rf_request* request);     /* null is allowed */
void rf_request_cancelled(struct rf_request* request); /* null is allowed */
void rf_find_all(struct rf_waited* waited, int count, MPI_Request* requests);
void rf_let_go(struct rf_waited* waited);
/* The state holds two requests; the history has the others, so that a whole halo exchange can be followed. */
void rf_name_more(struct rf_call* call, const struct rf_waited* waited);
void rf_waiting(struct rf_call* call, uint16_t op, const struct rf_waited* waited, int count,
                const MPI_Request* requests, const void* where);
void rf_wait_done(struct rf_waited* waited, int i, int result);
/* After a call over all of them. If the statuses have an error, each request has its own result. Without
 * statuses the failed request is unknown, so none is called complete. */
void rf_all_done(struct rf_waited* waited, int rc, const struct rf_mpi_status* statuses);

#endif /* RANKFAULT_MPI_WAITS_H */
