/* fortran_communicators.c: making and freeing communicators from Fortran. */
#include "fortran.h"

/* A creation over all members of its parent: it takes a place in the parent's order. */
#define CREATION(name, parameters, arguments)                                                            \
  static void f_##name(void* next, const void* where, fint* comm, parameters, fint* made, fint* error) { \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                               \
    struct rf_call call = rf_call_on(RF_OP_COMM_CREATE, c, where);                                       \
    int was_made = 0;                                                                                    \
    MAKE(&call, c, GO(next)(comm, arguments, made, e); was_made = *e == RF_MPI_SUCCESS;                  \
         if (was_made && call.outermost) rf_comm_made(rf_comm_f2c(*made), call.comm, call.seq));         \
    if (!was_made) *made = rf_comm_c2f(rf_mpi.comm_null);                                                \
  }                                                                                                      \
  NAMES(name, (fint * comm, parameters, fint * made, fint * error), (comm, arguments, made, error))
CREATION(comm_split, P(fint* color, fint* key), P(color, key))
CREATION(comm_split_type, P(fint* type, fint* key, fint* info), P(type, key, info))
CREATION(comm_create, P(fint* group), P(group))
CREATION(comm_dup_with_info, P(fint* info), P(info))
CREATION(cart_create, P(fint* n, fint* dims, fint* periods, fint* reorder), P(n, dims, periods, reorder))
CREATION(cart_sub, P(fint* remain), P(remain))

static void f_comm_dup(void* next, const void* where, fint* comm, fint* made, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call = rf_call_on(RF_OP_COMM_CREATE, c, where);
  int was_made = 0;
  MAKE(&call, c, GO(next)(comm, made, e); was_made = *e == RF_MPI_SUCCESS;
       if (was_made && call.outermost) rf_comm_made(rf_comm_f2c(*made), call.comm, call.seq));
  if (!was_made) *made = rf_comm_c2f(rf_mpi.comm_null);
}
NAMES(comm_dup, (fint * comm, fint* made, fint* error), (comm, made, error))

static void f_comm_free(void* next, const void* where, fint* comm, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call = rf_call_on(RF_OP_COMM_FREE, c, where);
  int over = 0;
  MAKE(&call, c, GO(next)(comm, e); over = *e == RF_MPI_SUCCESS);
  if (over) rf_comm_is_over(call.comm);
}
NAMES(comm_free, (fint * comm, fint* error), (comm, error))
