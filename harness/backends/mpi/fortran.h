/* fortran.h: the shape of a Fortran wrapper: one body under the names of mpif.h and use mpi (one and two
 * underscores) and of use mpi_f08, where the error argument may be absent. */
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

/* The three names of one function, all with the body `f_name`. */
#define NAMES(name, parameters, arguments)                                                           \
  void wrap_mpi_##name##_ parameters { f_##name(next_mpi_##name##_, WHERE, ARGUMENTS arguments); }   \
  void wrap_mpi_##name##__ parameters { f_##name(next_mpi_##name##__, WHERE, ARGUMENTS arguments); } \
  void wrap_mpi_##name##_f08_ parameters { f_##name(next_mpi_##name##_f08_, WHERE, ARGUMENTS arguments); }
#define ARGUMENTS(...) __VA_ARGS__

/* fortran.c: Open MPI's alone */
int rf_fortran_load(const char** reason);
void* rf_openmpi_object(const char* symbol); /* data: the executable's copy when it has one */

#endif /* RANKFAULT_MPI_FORTRAN_H */
