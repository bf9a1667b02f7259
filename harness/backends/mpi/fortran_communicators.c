/* fortran_communicators.c: creates and frees communicators from Fortran. */
#include "fortran.h"

/* `known` gives the new communicator its identity. */
#define CREATE(call_, comm_, forward, known)                                                        \
  do {                                                                                              \
    MAKE(call_, comm_, forward; if (rf_outcome(*e) == RF_MPI_SUCCESS && (call_)->outermost) known); \
    if ((call_)->verdict != RF_DO_FORWARD) *made = rf_comm_c2f(rf_mpi.comm_null);                   \
  } while (0)

/* A creation over all members of its parent: it takes a place in the parent's order. */
#define CREATION(name, parameters, arguments)                                                              \
  static void f_##name(FROM, fint* comm, parameters, fint* error) {                                        \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                                 \
    struct rf_call call;                                                                                   \
    rf_call_on(&call, RF_OP_COMM_CREATE, c, where);                                                        \
    CREATE(&call, c, GO(next)(comm, arguments, e), rf_comm_made(rf_comm_f2c(*made), call.comm, call.seq)); \
  }                                                                                                        \
  NAMES(name, (fint * comm, parameters, fint * error), (comm, arguments, error))
CREATION(comm_dup, P(fint* made), P(made))
CREATION(comm_split, P(fint* color, fint* key, fint* made), P(color, key, made))
CREATION(comm_split_type, P(fint* type, fint* key, fint* info, fint* made), P(type, key, info, made))
CREATION(comm_create, P(fint* group, fint* made), P(group, made))
CREATION(comm_dup_with_info, P(fint* info, fint* made), P(info, made))
CREATION(cart_create, P(fint* n, fint* dims, fint* periods, fint* reorder, fint* made),
         P(n, dims, periods, reorder, made))
CREATION(cart_sub, P(fint* remain, fint* made), P(remain, made))
CREATION(graph_create, P(fint* n, fint* index, fint* edges, fint* reorder, fint* made),
         P(n, index, edges, reorder, made))
CREATION(dist_graph_create,
         P(fint* n, fint* from, fint* degrees, fint* to, fint* weights, fint* info, fint* reorder,
           fint* made),
         P(n, from, degrees, to, weights, info, reorder, made))
CREATION(dist_graph_create_adjacent,
         P(fint* in, fint* from, fint* in_weights, fint* out, fint* to, fint* out_weights, fint* info,
           fint* reorder, fint* made),
         P(in, from, in_weights, out, to, out_weights, info, reorder, made))
CREATION(intercomm_merge, P(fint* high, fint* made), P(high, made))

/* The identity is added when the request completes. */
static void f_comm_idup(FROM, fint* comm, fint* made, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, where);
  int pending = 0;
  ENQUEUE(&call, c, q, GO(next)(comm, made, q, e); pending = rf_outcome(*e) == RF_MPI_SUCCESS);
  struct rf_request* const entry = pending && call.outermost ? rf_request_find(rf_request_f2c(*q)) : NULL;
  if (entry) entry->new_comm_number = made;
}
NAMES(comm_idup, (fint * comm, fint* made, fint* q, fint* error), (comm, made, q, error))

/* Only the members of the new communicator take part: no place in the parent's order (communicators.c). */
static void f_comm_create_group(FROM, fint* comm, fint* group, fint* tag, fint* made, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, RF_NO_HANDLE, where);
  call.tag = *tag;
  CREATE(&call, c, GO(next)(comm, group, tag, made, e),
         rf_comm_made_by_tag(rf_comm_f2c(*made), rf_comm_index(c), *tag));
}
NAMES(comm_create_group, (fint * comm, fint* group, fint* tag, fint* made, fint* error),
      (comm, group, tag, made, error))

#define LEADERS fint *local, fint *leader, fint *peer, fint *remote_leader, fint *tag
static void f_intercomm_create(FROM, LEADERS, fint* made, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*local);
  struct rf_call call;
  rf_call_on(&call, RF_OP_COMM_CREATE, c, where);
  call.tag = *tag;
  CREATE(&call, c, GO(next)(local, leader, peer, remote_leader, tag, made, e),
         rf_comm_made_by_tag(rf_comm_f2c(*made), RF_NO_COMM, *tag));
}
NAMES(intercomm_create, (LEADERS, fint* made, fint* error),
      (local, leader, peer, remote_leader, tag, made, error))

#define END_OF_COMM(name)                                                       \
  static void f_##name(FROM, fint* comm, fint* error) {                         \
    const MPI_Comm c = rf_comm_f2c(*comm);                                      \
    struct rf_call call;                                                        \
    rf_call_on(&call, RF_OP_COMM_FREE, c, where);                               \
    int over = 0;                                                               \
    MAKE(&call, c, GO(next)(comm, e); over = rf_outcome(*e) == RF_MPI_SUCCESS); \
    if (over && call.outermost) rf_comm_is_over(call.comm);                     \
  }                                                                             \
  NAMES(name, (fint * comm, fint * error), (comm, error))
END_OF_COMM(comm_free)
END_OF_COMM(comm_disconnect)
