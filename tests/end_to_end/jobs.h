// jobs: the small real jobs that the end-to-end tests break, as texts of scenarios.
#pragma once

#include <string>

namespace rankfault::test {

struct Job {
  int ranks = 4;
  std::string fault;   // a YAML flow map; "": none
  std::string expect;  // YAML flow maps, one "  - {...}" a line; "": blamed none
  std::string more;    // further top-level lines
  std::string args;    // further arguments of the program, each ", \"--x\""
  std::string wall = "20s";
  std::string mpirun;  // for mpi_job: an mpirun other than the first on the PATH
};

std::string gloo_job(const Job&);  // tests/ranks/gloo/gloo_all_reduce under the local launcher
// Every collective of Gloo, four times: tests/ranks/gloo/gloo_all_ops
std::string gloo_all_ops_job(const Job&);
std::string trainer_job(const Job&);  // the reference trainer, 10 steps
std::string mpi_job(const Job&);      // tests/ranks/mpi/mpi_steps under mpirun
// A program of tests/ranks/mpi under the mpirun of that MPI (mpirun_of.h), which becomes the job's mpirun.
// "": that MPI is not installed.
std::string mpi_program_job(const std::string& mpi, const std::string& program, Job job);
std::string torch_job(const Job&);  // tests/ranks/torch/ddp.py under torchrun

}  // namespace rankfault::test
