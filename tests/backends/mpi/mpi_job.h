// mpi_job: runs a plain MPI program under its mpirun, with or without the preloaded agent.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault::test {

struct Mpi {
  std::string name;     // "OpenMpi4", "OpenMpi5", "Mpich4", "Mpich5", "MpiStandard"
  std::string decoder;  // of the record's coverage
  unsigned major = 4;
  std::string mpirun;
  std::string programs;  // folder of the rank programs built with it
  bool is_openmpi() const { return decoder == "openmpi"; }
  bool usable() const;
};
Mpi mpi_named(const std::string& name);

struct JobEnd {
  int status = -1;  // exit code, or 128 + signal
  std::string out, err;
  std::map<int, Json> books;  // what each rank printed about itself, by rank
};

struct JobOptions {
  int ranks = 4;
  bool agent = true;
  std::string run_dir;  // records go to run_dir/records; the control page, if any, is run_dir/control
  std::vector<std::string> mpirun_args;
};
JobEnd run_mpi(const Mpi&, const std::vector<std::string>& program, const JobOptions&);

// One action, granted beforehand without a harness at the gate, on one rank's nth call of an op.
struct rf_armed_request {
  int rank;
  unsigned op, verb;
  unsigned long nth, arg0 = 0, arg1 = 0;
};
void write_control_page(const std::string& path, const rf_armed_request&);

}  // namespace rankfault::test
