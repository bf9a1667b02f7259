/* fortran.h: the shape of a Fortran wrapper: one body under the names of mpif.h and use mpi (one and two
 * underscores) and of use mpi_f08, where the error argument may be absent.
 *
 * Open MPI's Fortran functions go straight to PMPI, so a C wrapper never sees them. All arguments are
 * addresses, the handles are numbers. */
#ifndef RANKFAULT_MPI_FORTRAN_H
#define RANKFAULT_MPI_FORTRAN_H

#include "decoder.h"

typedef int fint;

/* Evaluates `forward` with `e` pointing to where the library puts its error. */
#define MAKE(call_, comm_, forward)                                                       \
  do {                                                                                    \
    fint own_error_ = RF_MPI_SUCCESS;                                                     \
    fint* const e = error ? error : &own_error_;                                          \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                               \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_}; \
    if (verdict_ == RF_DO_FORWARD) {                                                      \
      forward;                                                                            \
    } else {                                                                              \
      *e = rf_not_made(call_, comm_, verdict_);                                           \
    }                                                                                     \
    guard_.call = NULL;                                                                   \
    rf_core->end(call_, *e);                                                              \
  } while (0)

/* The same for a call that leaves work pending in the request `q_`. */
#define ENQUEUE(call_, comm_, q_, forward)                                                \
  do {                                                                                    \
    fint own_error_ = RF_MPI_SUCCESS;                                                     \
    fint* const e = error ? error : &own_error_;                                          \
    MPI_Request handle_ = rf_mpi.request_null;                                            \
    (call_)->flags |= RF_CALL_NONBLOCKING;                                                \
    const enum rf_verdict verdict_ = rf_core->begin(call_);                               \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {call_}; \
    *e = RF_MPI_SUCCESS;                                                                  \
    if (verdict_ == RF_DO_FORWARD) {                                                      \
      forward;                                                                            \
      if (*e == RF_MPI_SUCCESS) handle_ = rf_request_f2c(*(q_));                          \
    }                                                                                     \
    guard_.call = NULL;                                                                   \
    *e = rf_enqueued(call_, comm_, verdict_, &handle_, *e);                               \
    if (verdict_ != RF_DO_FORWARD) *(q_) = rf_request_c2f(handle_);                       \
  } while (0)

/* The next function of the name: without a prototype, because each has another one and all of them take
 * addresses only. */
#define GO(next) ((void (*)())(next))

#define P(...) __VA_ARGS__

/* The three names of one function, all with the body `f_name`. */
#define NAMES(name, parameters, arguments)                                                   \
  void wrap_mpi_##name##_ parameters { f_##name(next_mpi_##name##_, WHERE, P arguments); }   \
  void wrap_mpi_##name##__ parameters { f_##name(next_mpi_##name##__, WHERE, P arguments); } \
  void wrap_mpi_##name##_f08_ parameters { f_##name(next_mpi_##name##_f08_, WHERE, P arguments); }

/* A collective, blocking and not: `changeable_` is what an action may alter, as in rf_fortran_arguments;
 * `arguments` are those of the program, `passed` those that go on, both without the communicator. */
#define COLLECTIVE(name, parameters, arguments, changeable_, shape, passed)                            \
  static void f_##name(void* next, const void* where, parameters, fint* comm, fint* error) {           \
    struct rf_fortran_arguments a = changeable_;                                                       \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                             \
    struct rf_call call = shape;                                                                       \
    MAKE(&call, c, rf_fortran_change(&call, &a); GO(next)(passed, comm, e));                           \
  }                                                                                                    \
  static void f_i##name(void* next, const void* where, parameters, fint* comm, fint* q, fint* error) { \
    struct rf_fortran_arguments a = changeable_;                                                       \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                             \
    struct rf_call call = shape;                                                                       \
    ENQUEUE(&call, c, q, rf_fortran_change(&call, &a); GO(next)(passed, comm, q, e));                  \
  }                                                                                                    \
  NAMES(name, (parameters, fint * comm, fint * error), (arguments, comm, error))                       \
  NAMES(i##name, (parameters, fint * comm, fint * q, fint * error), (arguments, comm, q, error))
#define CHANGEABLE(count_, type_, root_, op_) \
  { count_, type_, root_, op_ }

struct rf_fortran_arguments { /* what an action may have changed; the program's own are left alone */
  fint count, type, root, op;
};

/* fortran.c: Open MPI's alone */
int rf_fortran_load(const char** reason);
void* rf_openmpi_object(const char* symbol); /* data: the executable's copy when it has one */
void rf_fortran_change(const struct rf_call* call, struct rf_fortran_arguments* a);
const void* rf_fortran_buffer(const void* buffer); /* as C has it: MPI_IN_PLACE is another address there */
extern MPI_Comm (*rf_comm_f2c)(fint);
extern MPI_Datatype (*rf_type_f2c)(fint);
extern MPI_Op (*rf_op_f2c)(fint);
extern MPI_Request (*rf_request_f2c)(fint);
extern fint (*rf_comm_c2f)(MPI_Comm);
extern fint (*rf_request_c2f)(MPI_Request);

#endif /* RANKFAULT_MPI_FORTRAN_H */
