// mpirun_of: the mpirun of each MPI that tests use, as ./dev and CMake found it.
#pragma once

#include <string>

namespace rankfault::test {

// Takes "OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5" or "MpiStandard" (MPICH 5's mpirun, for programs that use
// only the interface of the standard). Returns a path that does not exist if that MPI is not installed.
std::string mpirun_of(const std::string& mpi);
// The folder of the rank programs built with that MPI.
std::string mpi_programs_of(const std::string& mpi);

}  // namespace rankfault::test
