#include "tests/support/synthetic_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;

FrDump dump_of(const ParallelJob& run, int rank) {
  const SyntheticJob& job = run.job();
  const std::vector<ParallelJob::Planned>& program = run.program(rank);
  const std::vector<ParallelJob::Made>& made = run.made(rank);
  FrDump dump;
  dump.version = "2.9";
  dump.comm_lib_version = "2.27.3";
  dump.backend = FrBackend::kNccl;
  dump.rank = rank;
  std::map<size_t, int64_t> pg_id;
  for (const size_t g : run.groups_of(rank)) {
    const std::vector<int>& ranks = run.groups()[g].ranks;
    pg_id[g] = static_cast<int64_t>(pg_id.size());
    dump.groups.push_back(
        {run.groups()[g].name, run.groups()[g].name, run.groups()[g].desc, {ranks.begin(), ranks.end()}});
    FrGroupStatus status{pg_id[g], 0, -1, 0};
    for (size_t i = 0; i < made.size(); ++i)
      if (program[i].group == g) {
        status.last_enqueued = made[i].seq;
        if (made[i].completed) status.last_completed = made[i].seq;
      }
    if (status.last_enqueued == 0) status.last_enqueued = status.last_completed = -1;
    dump.status.push_back(status);
  }
  if (job.broken == Broken::kTeardown && job.is_culprit(rank)) return dump;
  std::map<size_t, int64_t> collectives;
  for (size_t i = 0; i < made.size(); ++i) {
    const ParallelJob::Planned& call = program[i];
    const ParallelJob::Made& d = made[i];
    const bool message = call.peer >= 0;
    if (!message) collectives[call.group] = d.seq;
    if ((job.only_active && d.completed) || i + static_cast<size_t>(job.kept) < made.size()) continue;
    const ParallelJob::Group& g = run.groups()[call.group];
    FrEntry e;
    e.record_id = static_cast<int64_t>(i);
    e.pg_id = pg_id[call.group];
    e.group = {g.name, g.desc};
    e.collective_seq_id = collectives[call.group];
    e.p2p_seq_id = message ? d.seq : 0;
    e.op_id = d.seq;
    e.is_p2p = message;
    e.profiling_name = std::string("nccl:") + call.op;
    const auto me_in = std::find(g.ranks.begin(), g.ranks.end(), rank) - g.ranks.begin();
    if (message)
      e.profiling_name +=
          fmt::format(" {}{}{}", me_in, call.op == std::string("send") ? "->" : "<-", call.peer);
    const auto members = static_cast<int64_t>(g.ranks.size());
    const std::string op = call.op;
    e.input_sizes = {{call.size}};
    e.output_sizes = {{op == "_reduce_scatter_base" ? call.size / members
                       : op == "_all_gather_base"   ? call.size * members
                                                    : call.size}};
    e.input_dtypes = e.output_dtypes = {"BFloat16"};
    e.state = d.completed ? FrState::kCompleted : FrState::kScheduled;
    e.time_created_ns = d.time;
    if (d.completed) e.time_discovered_completed_ns = d.time + 500;
    e.retired = d.completed;
    e.timeout_ms = 600000;
    e.thread_name = "python3";
    e.thread_id = "1";
    dump.entries.push_back(std::move(e));
  }
  dump.entry_count = dump.entries.size();
  return dump;
}

}  // namespace

void each_synthetic_dump(const SyntheticJob& job, const std::function<void(FrDump)>& take) {
  const ParallelJob run(job);
  for (int r = 0; r < job.ranks(); ++r)
    if (!job.is_lost(r) && !(job.broken == Broken::kNoDump && job.is_culprit(r))) take(dump_of(run, r));
}

std::vector<FrDump> synthetic_dumps(const SyntheticJob& job) {
  std::vector<FrDump> dumps;
  each_synthetic_dump(job, [&](FrDump dump) { dumps.push_back(std::move(dump)); });
  return dumps;
}

}  // namespace rankfault::testing
