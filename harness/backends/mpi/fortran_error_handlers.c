/* fortran_error_handlers.c: the program's own error handlers, created from Fortran (error_handlers.c). */
#include "fortran.h"

#define MAKING(name)                                                    \
  static void f_##name(FROM, void* function, fint* made, fint* error) { \
    GO(next)(rf_seen_handler(function), made, error);                   \
  }                                                                     \
  NAMES(name, (void* function, fint* made, fint* error), (function, made, error))
MAKING(comm_create_errhandler)
MAKING(errhandler_create)
MAKING(file_create_errhandler)
MAKING(session_create_errhandler)
MAKING(win_create_errhandler)
