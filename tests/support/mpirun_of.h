// mpirun_of: the mpirun of each MPI that tests use, as ./dev and CMake found it.
#pragma once

#include <string>

namespace rankfault::test {

// Of "OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5" or "MpiStandard" (MPICH 5's own, for programs of the
// standard's interface); a path that is not there when that MPI is not.
std::string mpirun_of(const std::string& mpi);
// Where the rank programs built with it are.
std::string mpi_programs_of(const std::string& mpi);

}  // namespace rankfault::test
