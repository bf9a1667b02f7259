/* error_handlers.c: the program's own error handlers (MPI 4.1, 9.3). MPICH 5 returns MPI_SUCCESS from a
 * refused call if such a handler took the error. So only the handler shows that the call failed.
 *
 * The library gets the address of an entry of this file. The entry notes the error code and calls the
 * program's function. Each function of the program has one entry. */
#include "decoder.h"

int rf_own_handlers;

/* Every kind of handler, in C and in Fortran, gets the address of its object and the address of the code.
 * MPICH adds at most two arguments. The entry passes them on. */
typedef void handler(void* object, int* code, ...);

typedef void entry(void* object, int* code, void* third, void* fourth);

enum { kMost = 64 };
static handler* functions[kMost];

#define ENTRY(i)                                                              \
  static void entry_##i(void* object, int* code, void* third, void* fourth) { \
    rf_core->error_handled(*code);                                            \
    functions[i](object, code, third, fourth);                                \
  }
/* The numbers are octal: eight rows of eight. */
#define ROW(WHAT, row) \
  WHAT(0##row##0)      \
  WHAT(0##row##1)      \
  WHAT(0##row##2) WHAT(0##row##3) WHAT(0##row##4) WHAT(0##row##5) WHAT(0##row##6) WHAT(0##row##7)
#define ALL(WHAT) \
  ROW(WHAT, 0) ROW(WHAT, 1) ROW(WHAT, 2) ROW(WHAT, 3) ROW(WHAT, 4) ROW(WHAT, 5) ROW(WHAT, 6) ROW(WHAT, 7)
#define NAMED(i) entry_##i,
ALL(ENTRY)
static entry* const entries[kMost] = {ALL(NAMED)};

/* If all entries are taken, a call's success proves nothing. A library that returns the error gets the
 * program's function itself. */
void* rf_seen_handler(void* function) {
  if (!function || !rf_abi_hides_errors()) return function;
  RF_STORE(&rf_own_handlers, 1);
  for (int i = 0; i < kMost; ++i)
    if ((void*)entries[i] == function)
      return function; /* the Fortran binding calls the C function with an entry */
  for (int i = 0; i < kMost; ++i) {
    handler* taken = NULL;
    if (__atomic_compare_exchange_n(&functions[i], &taken, (handler*)function, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE) ||
        (void*)taken == function)
      return (void*)entries[i];
  }
  rf_core->opaque(RF_OPAQUE_COMMUNICATION);
  return function;
}

#define MAKING(name) \
  int wrap_##name(void* function, void* made) { return NEXT(name)(rf_seen_handler(function), made); }
MAKING(MPI_Comm_create_errhandler)
MAKING(MPI_Errhandler_create)
MAKING(MPI_File_create_errhandler)
MAKING(MPI_Session_create_errhandler)
MAKING(MPI_Win_create_errhandler)

/* MPICH 5's extension gives the handler other arguments. */
#define MAKING_X(name)                                                         \
  int wrap_##name(void* function, void* destructor, void* extra, void* made) { \
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);                                  \
    return NEXT(name)(function, destructor, extra, made);                      \
  }
MAKING_X(MPIX_Comm_create_errhandler_x)
MAKING_X(MPIX_File_create_errhandler_x)
MAKING_X(MPIX_Session_create_errhandler_x)
MAKING_X(MPIX_Win_create_errhandler_x)
