#include "tests/support/mpirun_of.h"

#include <unistd.h>

#include <cstdlib>

namespace rankfault::test {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string found(const std::string& mpi) {
  if (mpi == "OpenMpi4")
    return ::access("/usr/bin/mpirun.openmpi", X_OK) == 0 ? "/usr/bin/mpirun.openmpi" : "/usr/bin/mpirun";
  if (mpi == "Mpich4") return variable("RANKFAULT_MPICH4_EXEC");
  if (mpi == "Mpich5") return variable("RANKFAULT_MPICH5_EXEC");
  if (mpi == "MpiStandard") return variable("RANKFAULT_MPI_STANDARD_EXEC");
  if (const std::string named = variable("RANKFAULT_MPIRUN5"); !named.empty()) return named;
  const std::string prefix = variable("RANKFAULT_OPENMPI5_PREFIX");
  return prefix.empty() ? "" : prefix + "/bin/mpirun";  // without a prefix, "/bin/mpirun" would be Open MPI 4
}

}  // namespace

std::string mpirun_of(const std::string& mpi) {
  const std::string program = found(mpi);
  return ::access(program.c_str(), X_OK) == 0 ? program : "/no/" + mpi + "/mpirun";
}

std::string mpi_programs_of(const std::string& mpi) {
  const std::string ranks = variable("RANKFAULT_BUILD_DIR") + "/bin/ranks/";
  return ranks + (mpi == "OpenMpi4"   ? "mpi"
                  : mpi == "OpenMpi5" ? "ompi5"
                  : mpi == "Mpich4"   ? "mpich4"
                  : mpi == "Mpich5"   ? "mpich5"
                                      : "mpi_standard");
}

}  // namespace rankfault::test
