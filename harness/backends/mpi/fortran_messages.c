/* fortran_messages.c: point to point from Fortran. A skipped receive leaves its status unchanged, because the
 * Fortran form of a status differs between the modules. */
#include "fortran.h"

#define MESSAGE_ARGS void *b, fint *n, fint *t, fint *peer, fint *tag, fint *comm
#define CHANGEABLE_MESSAGE \
  { *n, *t, *peer, 0 }

#define SEND(name, OP, flag)                                                                             \
  static void f_##name(FROM, MESSAGE_ARGS, fint* error) {                                                \
    struct rf_fortran_arguments a = CHANGEABLE_MESSAGE;                                                  \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                               \
    struct rf_call call;                                                                                 \
    rf_message(&call, OP, *n, rf_type_f2c(*t), *peer, *tag, c, where);                                   \
    call.flags |= flag;                                                                                  \
    MAKE(&call, c, rf_fortran_change(&call, &a); GO(next)(b, &a.count, &a.type, &a.root, tag, comm, e)); \
  }                                                                                                      \
  NAMES(name, (MESSAGE_ARGS, fint * error), (b, n, t, peer, tag, comm, error))
#define NONBLOCKING(name, OP, flag)                                    \
  static void f_##name(FROM, MESSAGE_ARGS, fint* q, fint* error) {     \
    struct rf_fortran_arguments a = CHANGEABLE_MESSAGE;                \
    const MPI_Comm c = rf_comm_f2c(*comm);                             \
    struct rf_call call;                                               \
    rf_message(&call, OP, *n, rf_type_f2c(*t), *peer, *tag, c, where); \
    call.flags |= flag;                                                \
    ENQUEUE(&call, c, q, rf_fortran_change(&call, &a);                 \
            GO(next)(b, &a.count, &a.type, &a.root, tag, comm, q, e)); \
  }                                                                    \
  NAMES(name, (MESSAGE_ARGS, fint * q, fint * error), (b, n, t, peer, tag, comm, q, error))
SEND(send, RF_OP_SEND, 0)
SEND(bsend, RF_OP_SEND, RF_CALL_BUFFERED)
SEND(rsend, RF_OP_SEND, 0)
SEND(ssend, RF_OP_SSEND, 0)
NONBLOCKING(isend, RF_OP_SEND, 0)
NONBLOCKING(ibsend, RF_OP_SEND, RF_CALL_BUFFERED)
NONBLOCKING(irsend, RF_OP_SEND, 0)
NONBLOCKING(issend, RF_OP_SSEND, 0)
NONBLOCKING(irecv, RF_OP_RECV, 0)

static void f_recv(FROM, MESSAGE_ARGS, void* status, fint* error) {
  struct rf_fortran_arguments a = CHANGEABLE_MESSAGE;
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_message(&call, RF_OP_RECV, *n, rf_type_f2c(*t), *peer, *tag, c, where);
  MAKE(&call, c, rf_fortran_change(&call, &a); GO(next)(b, &a.count, &a.type, &a.root, tag, comm, status, e));
}
NAMES(recv, (MESSAGE_ARGS, void* status, fint* error), (b, n, t, peer, tag, comm, status, error))

#define SENDRECV_ARGS                                                                             \
  void *s, fint *sn, fint *st, fint *dest, fint *stag, void *r, fint *rn, fint *rt, fint *source, \
      fint *rtag, fint *comm, void *status
static void f_sendrecv(FROM, SENDRECV_ARGS, fint* error) {
  struct rf_fortran_arguments a = {*sn, *st, *dest, 0};
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_both_ways(&call, *sn, rf_type_f2c(*st), *dest, *stag, *source, *rtag, c, where);
  MAKE(&call, c, rf_core->detail(&call, call.recv_peer, rf_elements(*rn, rf_type_f2c(*rt)).count, *rtag, 0);
       rf_fortran_change(&call, &a);
       GO(next)(s, &a.count, &a.type, &a.root, stag, r, rn, rt, source, rtag, comm, status, e));
}
NAMES(sendrecv, (SENDRECV_ARGS, fint* error),
      (s, sn, st, dest, stag, r, rn, rt, source, rtag, comm, status, error))

#define REPLACE_ARGS \
  void *b, fint *n, fint *t, fint *dest, fint *stag, fint *source, fint *rtag, fint *comm, void *status
static void f_sendrecv_replace(FROM, REPLACE_ARGS, fint* error) {
  struct rf_fortran_arguments a = {*n, *t, *dest, 0};
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_both_ways(&call, *n, rf_type_f2c(*t), *dest, *stag, *source, *rtag, c, where);
  MAKE(&call, c, rf_core->detail(&call, call.recv_peer, call.count, *rtag, 0); rf_fortran_change(&call, &a);
       GO(next)(b, &a.count, &a.type, &a.root, stag, source, rtag, comm, status, e));
}
NAMES(sendrecv_replace, (REPLACE_ARGS, fint* error), (b, n, t, dest, stag, source, rtag, comm, status, error))

static void f_probe(FROM, fint* source, fint* tag, fint* comm, void* status, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_message(&call, RF_OP_PROBE, 0, RF_NO_HANDLE, *source, *tag, c, where);
  MAKE(&call, c, GO(next)(source, tag, comm, status, e));
}
NAMES(probe, (fint * source, fint* tag, fint* comm, void* status, fint* error),
      (source, tag, comm, status, error))

static void f_buffer_detach(FROM, void* b, fint* bytes, fint* error) {
  struct rf_call call;
  rf_call_on(&call, RF_OP_WAIT, RF_NO_HANDLE, where);
  call.pending_count = 1; /* for unknown messages */
  MAKE(&call, rf_mpi.world, GO(next)(b, bytes, e));
}
NAMES(buffer_detach, (void* b, fint* bytes, fint* error), (b, bytes, error))

/* A poll, as in C. */
static void f_iprobe(FROM, fint* source, fint* tag, fint* comm, fint* flag, void* status, fint* error) {
  rf_polled(FORWARDED(GO(next)(source, tag, comm, flag, status, e)), *flag);
}
NAMES(iprobe, (fint * source, fint* tag, fint* comm, fint* flag, void* status, fint* error),
      (source, tag, comm, flag, status, error))
