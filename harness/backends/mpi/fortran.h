/* fortran.h: the common form of a Fortran wrapper: one body under the names of mpif.h and use mpi (one and
 * two underscores) and of use mpi_f08, where the error argument may be absent.
 *
 * Open MPI's Fortran functions call PMPI directly, so a C wrapper never sees them; MPICH's call MPI for some
 * names and PMPI for others. So a call is recorded here, where the program made it, and the C calls of the
 * binding itself pass through (rf_again). All arguments are addresses, and the handles are numbers. */
#ifndef RANKFAULT_MPI_FORTRAN_H
#define RANKFAULT_MPI_FORTRAN_H

#include "decoder.h"

typedef int fint;

/* The origin of a body: the library's own function of that name, the program's call, and the module of the
 * name (rf_fortran_module). */
#define FROM                                                                     \
  void *next __attribute__((unused)), const void *where __attribute__((unused)), \
      int module __attribute__((unused))

/* Evaluates `forward` with `e` pointing to the place for the library's error. */
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
      rf_tell_owed(call_);                                                                \
      forward;                                                                            \
      if (rf_outcome(*e) == RF_MPI_SUCCESS) handle_ = rf_request_f2c(*(q_));              \
    }                                                                                     \
    guard_.call = NULL;                                                                   \
    *e = rf_enqueued(call_, comm_, verdict_, &handle_, *e);                               \
    if (verdict_ != RF_DO_FORWARD) *(q_) = rf_request_c2f(handle_);                       \
  } while (0)

/* The same for a call that only prepares `call_`: it takes its own place, whatever starts later. */
#define PREPARE(call_, comm_, q_, forward)                                                   \
  do {                                                                                       \
    fint own_error_ = RF_MPI_SUCCESS;                                                        \
    fint* const e = error ? error : &own_error_;                                             \
    MPI_Request handle_ = rf_mpi.request_null;                                               \
    struct rf_call making_;                                                                  \
    rf_call_on(&making_, RF_OP_PERSISTENT_INIT, comm_, where);                               \
    const enum rf_verdict verdict_ = rf_core->begin(&making_);                               \
    struct rf_unwind_guard guard_ __attribute__((cleanup(rf_close_on_unwind))) = {&making_}; \
    *e = RF_MPI_SUCCESS;                                                                     \
    if (verdict_ == RF_DO_FORWARD) {                                                         \
      forward;                                                                               \
      if (rf_outcome(*e) == RF_MPI_SUCCESS) handle_ = rf_request_f2c(*(q_));                 \
    } else {                                                                                 \
      *e = rf_not_made(&making_, comm_, verdict_);                                           \
    }                                                                                        \
    guard_.call = NULL;                                                                      \
    *e = rf_prepared(&making_, call_, verdict_, &handle_, *e);                               \
    if (verdict_ != RF_DO_FORWARD) *(q_) = rf_request_c2f(handle_);                          \
  } while (0)

/* For a function without its own record, such as a poll: forwards it; the value is the error. */
#define FORWARDED(forward)                                    \
  ({                                                          \
    fint own_error_ = RF_MPI_SUCCESS;                         \
    fint* const e = error ? error : &own_error_;              \
    int nested_ __attribute__((cleanup(rf_end_of_nest))) = 1; \
    rf_forget_error();                                        \
    rf_core->nest(nested_);                                   \
    forward;                                                  \
    rf_outcome(*e);                                           \
  })

/* The next function of the name. It has no prototype, because the prototypes differ and all arguments are
 * addresses. */
#define GO(next) ((void (*)())(next))

#define P(...) __VA_ARGS__

/* The four names of one function, all with the body f_ followed by `name`. */
#define NAME(prefix, name, spelling, module, parameters, arguments)         \
  void wrap_##prefix##_##name##spelling parameters {                        \
    f_##name(next_##prefix##_##name##spelling, WHERE, module, P arguments); \
  }
#define NAMES_OF(prefix, name, parameters, arguments)          \
  NAME(prefix, name, _, RF_MPI_H, parameters, arguments)       \
  NAME(prefix, name, __, RF_MPI_H, parameters, arguments)      \
  NAME(prefix, name, _f08_, RF_MPI_F08, parameters, arguments) \
  NAME(prefix, name, _f08ts_, RF_MPI_F08TS, parameters, arguments)
#define NAMES(name, parameters, arguments) NAMES_OF(mpi, name, P(parameters), P(arguments))

/* All forms of a collective: blocking, nonblocking and prepared (mpix_: before MPI-4). `changeable_` is what
 * an action may change, as in rf_fortran_arguments; `arguments` are the program's, `passed` those that are
 * forwarded, both without the communicator. */
#define COLLECTIVE(name, parameters, arguments, changeable_, shape, passed)                      \
  static void f_##name(FROM, parameters, fint* comm, fint* error) {                              \
    struct rf_fortran_arguments a = changeable_;                                                 \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                       \
    struct rf_call call;                                                                         \
    shape;                                                                                       \
    MAKE(&call, c, rf_fortran_change(&call, &a); GO(next)(passed, comm, e));                     \
  }                                                                                              \
  static void f_i##name(FROM, parameters, fint* comm, fint* q, fint* error) {                    \
    struct rf_fortran_arguments a = changeable_;                                                 \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                       \
    struct rf_call call;                                                                         \
    shape;                                                                                       \
    ENQUEUE(&call, c, q, rf_fortran_change(&call, &a); GO(next)(passed, comm, q, e));            \
  }                                                                                              \
  static void f_##name##_init(FROM, parameters, fint* comm, fint* info, fint* q, fint* error) {  \
    const MPI_Comm c = rf_comm_f2c(*comm);                                                       \
    struct rf_call call;                                                                         \
    shape;                                                                                       \
    PREPARE(&call, c, q, GO(next)(arguments, comm, info, q, e));                                 \
  }                                                                                              \
  NAMES(name, (parameters, fint * comm, fint * error), (arguments, comm, error))                 \
  NAMES(i##name, (parameters, fint * comm, fint * q, fint * error), (arguments, comm, q, error)) \
  NAMES_OF(mpi, name##_init, (parameters, fint * comm, fint * info, fint * q, fint * error),     \
           (arguments, comm, info, q, error))                                                    \
  NAMES_OF(mpix, name##_init, (parameters, fint * comm, fint * info, fint * q, fint * error),    \
           (arguments, comm, info, q, error))
#define CHANGEABLE(count_, type_, root_, op_) \
  { count_, type_, root_, op_ }

struct rf_fortran_arguments { /* what an action may have changed; the program's own stay unchanged */
  fint count, type, root, op;
};

/* fortran.c */
void rf_fortran_change(const struct rf_call* call, struct rf_fortran_arguments* a);
const void* rf_fortran_buffer(const void* buffer, int module); /* in C's terms: also MPI_IN_PLACE */

struct rf_fortran_types { /* an array of types in C's terms; no types if memory is missing */
  MPI_Datatype* all;
  MPI_Datatype on_stack[64];
};
void rf_fortran_types(struct rf_fortran_types* types, MPI_Comm comm, const fint* numbers);
void rf_fortran_types_drop(struct rf_fortran_types* types);

#define TYPE(t) rf_type_f2c(*(t))
#define OP(o) rf_op_f2c(*(o))
#define BUFFER(b) rf_fortran_buffer(b, module)

#endif /* RANKFAULT_MPI_FORTRAN_H */
