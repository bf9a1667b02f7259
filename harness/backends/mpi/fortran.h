/* fortran.h: the part of the Open MPI decoder that no other decoder has. */
#ifndef RANKFAULT_MPI_FORTRAN_H
#define RANKFAULT_MPI_FORTRAN_H

int rf_fortran_load(const char** reason);
void* rf_openmpi_object(const char* symbol); /* data: the executable's copy when it has one */

#endif /* RANKFAULT_MPI_FORTRAN_H */
