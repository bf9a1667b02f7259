/* counts.h: the types of counts and displacements in the files that are compiled twice: for functions like
 * MPI_Bcast, and for functions like MPI_Bcast_c, whose counts are MPI_Count (MPI 4.0, 2.5.8;
 * large_counts.c). */
#ifndef RANKFAULT_MPI_COUNTS_H
#define RANKFAULT_MPI_COUNTS_H

#include "decoder.h"

#ifdef RF_LARGE_COUNTS
typedef int64_t rf_count;         /* MPI_Count, of 8 bytes in MPICH and in Open MPI */
typedef intptr_t rf_displacement; /* MPI_Aint */
#define COUNTS(of) ((struct rf_counts){.large = (of)})
#define WRAP(name) wrap_##name##_c
#undef NEXT
#define NEXT(name) ((__typeof__(&wrap_##name##_c))next_##name##_c)
#else
typedef int rf_count;
typedef int rf_displacement;
#define COUNTS(of) RF_INTS(of)
#define WRAP(name) wrap_##name
#endif

/* Changes the arguments as an action requires, before the call is forwarded. */
static inline void rf_apply_change(const struct rf_call* call, rf_count* count, MPI_Datatype* type, int* root,
                                   MPI_Op* op) {
  if (call->changed == 0) return;
  if (call->changed == RF_ARG_COUNT && count) *count = (rf_count)call->changed_to;
  rf_apply_other_change(call, type, root, op);
}

/* A call that only prepares, under MPI-4's name and under the earlier name of Open MPI 4. */
#define RF_PERSISTENT_AS(function, next, parameters, call_of, arguments) \
  int function parameters {                                              \
    struct rf_call call;                                                 \
    call_of;                                                             \
    RF_RETURN_PREPARED(&call, c, q, next arguments);                     \
  }
#define RF_PERSISTENT_NOW(Name, ...) RF_PERSISTENT_AS(WRAP(MPI_##Name), NEXT(MPI_##Name), __VA_ARGS__)
#ifdef RF_LARGE_COUNTS
#define RF_PERSISTENT(Name, ...) RF_PERSISTENT_NOW(Name, __VA_ARGS__)
#else
#define RF_PERSISTENT(Name, ...)       \
  RF_PERSISTENT_NOW(Name, __VA_ARGS__) \
  RF_PERSISTENT_AS(wrap_MPIX_##Name, NEXT(MPIX_##Name), __VA_ARGS__)
#endif

#endif /* RANKFAULT_MPI_COUNTS_H */
