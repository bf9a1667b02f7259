// separate_worlds: the launcher started several ranks, and each of them initialised its library alone. Their
// launcher and their library do not know each other, so each rank does the whole work and ends with 0.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

bool is_rank(const Process& p) { return p.member() && !p.helper(); }

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  const auto& all = job.processes();
  const auto alone = [](const auto& p) { return is_rank(*p) && p->view->world_size == 1; };
  const auto ranks = std::count_if(all.begin(), all.end(), [](const auto& p) { return is_rank(*p); });
  if (ranks < 2 || job.timeline().world_size < 2 || std::count_if(all.begin(), all.end(), alone) != ranks)
    return {};
  Finding f;
  f.kind = "separate_worlds";
  f.attempt = job.attempt();
  for (const auto& p : all) {
    if (!is_rank(*p)) continue;
    if (p->view->member >= f.at) set_time(f, *p, p->view->member);
    f.evidence.push_back(fmt::format("process {} announced rank 0 of 1", p->view->id.to_string()));
  }
  f.text = fmt::format("{} processes are rank 0 of a job of 1 each, and the launcher was asked for {} ranks",
                       ranks, job.timeline().world_size);
  return {f};
}

const Registration<Rule> kRule{{
    .name = "separate_worlds",
    .summary = "each process that the launcher started runs as a job of its own",
    .look = look,
    .proof = "Never proven: a program may run alone on purpose.",
    .example = "3 processes are rank 0 of a job of 1 each, and the launcher was asked for 3 ranks",
    .next =
        "Start the program with the launcher of its own library. Under `srun`, Open MPI needs `--mpi=pmix` "
        "and "
        "MPICH needs `--mpi=pmi2`; `srun --mpi=list` shows what the cluster has. An `mpirun` must belong to "
        "the MPI that the program is linked with.",
    .traits = {.precedence = 0},
}};

}  // namespace
}  // namespace rankfault
