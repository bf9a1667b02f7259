#include "tests/end_to_end/jobs.h"

#include <fmt/format.h>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

std::string scenario(const Job& job, const std::string& name, const std::string& launcher,
                     const std::string& command) {
  std::string text = fmt::format(
      "version: 1\nname: {}\nsummary: A small real job.\nworkload:\n  launcher: {}\n  ranks: {}\n"
      "  command: [{}{}]\n  limits: {{wall: {}}}\n",
      name, launcher, job.ranks, command, job.args, job.wall);
  if (!job.mpirun.empty()) text += "  mpirun: " + job.mpirun + "\n";
  if (!job.fault.empty()) text += "faults:\n  - " + job.fault + "\n";
  text += "expect:\n" + (job.expect.empty() ? std::string("  - blamed: {kind: none}\n") : job.expect);
  return text + job.more;
}

}  // namespace

std::string gloo_job(const Job& job) {
  return scenario(job, "gloo-job", "local",
                  "\"{bin}/gloo_all_reduce\", \"--store={store}\", \"--steps=6\", \"--timeout=1s\"");
}

std::string gloo_all_ops_job(const Job& job) {
  return scenario(job, "gloo-all-ops-job", "local",
                  "\"{bin}/gloo_all_ops\", \"--store={store}\", \"--steps=4\", \"--timeout=1s\"");
}

std::string trainer_job(const Job& job) {
  return scenario(job, "trainer-job", "local",
                  "\"{bin}/trainer\", \"--store={store}\", \"--steps=10\", \"--collective-timeout=1s\"");
}

std::string mpi_job(const Job& job) {
  return scenario(job, "mpi-job", "mpirun", "\"{bin}/ranks/mpi/mpi_steps\", \"--steps=10\"");
}

std::string mpi_program_job(const std::string& mpi, const std::string& program, Job job) {
  job.mpirun = mpirun_of(mpi);
  const std::string path = mpi_programs_of(mpi) + "/" + program;
  if (!have_program(job.mpirun) || !have_program(path)) return "";
  return scenario(job, program, "mpirun", "\"" + path + "\"");
}

std::string torch_job(const Job& job) {
  return scenario(job, "torch-job", "torchrun", "\"" + source_dir() + "/tests/ranks/torch/ddp.py\"");
}

}  // namespace rankfault::test
