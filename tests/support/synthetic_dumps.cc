// synthetic_dumps: see synthetic_dumps.h.
#include "tests/support/synthetic_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;

struct Group {
  std::string name, desc;
  std::vector<int> ranks;
  std::vector<size_t> came;  // by seq: how many have enqueued it
};

struct Planned {  // one call of a rank's program
  size_t group;
  const char* op;  // "all_reduce", "send", "recv"
  int peer = -1;   // in the group
  int64_t size = 1024;
  int step = 0;
};

struct Done {
  Planned call;
  int64_t seq, time;
  bool completed = false;
};

struct Rank {
  std::vector<Planned> program;
  size_t next = 0, complete = 0;                    // of its own calls, in order
  std::map<size_t, int64_t> collectives, messages;  // counts by group
  std::vector<Done> made;
  bool host_stuck = false;
  size_t stuck_from = ~size_t{0};  // its device: what it made from here on is never seen complete
};

class Simulation {
 public:
  explicit Simulation(const SyntheticJob& job) : job_(job), ranks_(static_cast<size_t>(job.ranks())) {
    make_groups();
    for (int r = 0; r < job_.ranks(); ++r) plan(r);
    for (const int r : job_.culprits) break_it(r);
    run();
  }
  FrDump dump_of(int rank) const;

 private:
  bool is_culprit(int r) const {
    return std::find(job_.culprits.begin(), job_.culprits.end(), r) != job_.culprits.end();
  }
  int rank_at(int t, int p, int d) const { return t + job_.tensor * (d + job_.data * p); }

  void add_group(const std::string& desc, std::vector<int> ranks) {
    for (const int r : ranks) groups_of_[static_cast<size_t>(r)][desc].push_back(groups_.size());
    groups_.push_back({std::to_string(groups_.size()), desc, std::move(ranks), {}});
  }
  void make_groups() {
    groups_of_.resize(ranks_.size());
    std::vector<int> all;
    for (int r = 0; r < job_.ranks(); ++r) all.push_back(r);
    add_group("default_pg", all);
    for (int p = 0; p < job_.pipeline; ++p)
      for (int d = 0; d < job_.data; ++d) {
        std::vector<int> ranks;
        for (int t = 0; t < job_.tensor; ++t) ranks.push_back(rank_at(t, p, d));
        add_group("TENSOR_PARALLEL", ranks);
      }
    for (int p = 0; p < job_.pipeline; ++p)
      for (int t = 0; t < job_.tensor; ++t) {
        std::vector<int> ranks;
        for (int d = 0; d < job_.data; ++d) ranks.push_back(rank_at(t, p, d));
        add_group("DATA_PARALLEL", ranks);
      }
    for (int t = 0; t < job_.tensor; ++t)
      for (int d = 0; d < job_.data; ++d)
        for (int p = 0; p + 1 < job_.pipeline; ++p)
          add_group("PIPELINE_PARALLEL", {rank_at(t, p, d), rank_at(t, p + 1, d)});
  }
  const std::vector<size_t>& groups(int r, const char* desc) {
    return groups_of_[static_cast<size_t>(r)][desc];
  }

  void plan(int r) {
    std::vector<Planned>& program = ranks_[static_cast<size_t>(r)].program;
    const auto pass = [&](bool forward, int step) {
      for (const size_t g : groups(r, "PIPELINE_PARALLEL")) {
        const bool first = groups_[g].ranks[0] == r;
        if (first != forward) program.push_back({g, "recv", first ? 1 : 0, 4096, step});
      }
      for (const size_t g : groups(r, "TENSOR_PARALLEL"))
        program.push_back({g, "all_reduce", -1, 2048, step});
      for (const size_t g : groups(r, "PIPELINE_PARALLEL")) {
        const bool first = groups_[g].ranks[0] == r;
        if (first == forward) program.push_back({g, "send", first ? 1 : 0, 4096, step});
      }
    };
    for (int step = 0; step < job_.steps; ++step) {
      pass(true, step);
      pass(false, step);
      for (const size_t g : groups(r, "DATA_PARALLEL")) {
        program.push_back({g, "_reduce_scatter_base", -1, 8192, step});
        program.push_back({g, "_all_gather_base", -1, 512, step});
      }
      program.push_back({0, "all_reduce", -1, 1, step});
    }
  }

  void break_it(int r) {
    Rank& me = ranks_[static_cast<size_t>(r)];
    const auto at = std::find_if(me.program.begin(), me.program.end(), [&](const Planned& c) {
      return c.step == job_.at_step && c.op == std::string("_reduce_scatter_base");
    });
    switch (job_.broken) {
      case Broken::kSkipped:
        me.program.erase(at);
        break;
      case Broken::kOtherSize:
        at->size = 4096;
        break;
      case Broken::kHostStuck:
      case Broken::kNoDump:
      case Broken::kTeardown:
        me.program.erase(at, me.program.end());
        break;
      case Broken::kDeviceStuck:
        me.stuck_from = static_cast<size_t>(at - me.program.begin());
        break;
      case Broken::kNothing:
        break;
    }
  }

  // Whether the partner of a message, or every member of a collective's group, has enqueued it.
  bool all_came(const Done& d) const {
    const Group& g = groups_[d.call.group];
    const auto seq = static_cast<size_t>(d.seq);
    if (d.call.peer < 0) return g.came.size() > seq && g.came[seq] == g.ranks.size();
    const Rank& peer = ranks_[static_cast<size_t>(g.ranks[static_cast<size_t>(d.call.peer)])];
    const auto count = peer.messages.find(d.call.group);
    return count != peer.messages.end() && count->second >= d.seq;
  }

  bool enqueue(int r) {
    Rank& me = ranks_[static_cast<size_t>(r)];
    const size_t seen_complete = std::min(me.complete, me.stuck_from);
    if (me.next >= me.program.size() || me.next - seen_complete >= static_cast<size_t>(job_.ahead))
      return false;
    const Planned& c = me.program[me.next++];
    const int64_t seq = c.peer >= 0 ? ++me.messages[c.group] : ++me.collectives[c.group];
    if (c.peer < 0) {
      std::vector<size_t>& came = groups_[c.group].came;
      came.resize(std::max(came.size(), static_cast<size_t>(seq) + 1));
      ++came[static_cast<size_t>(seq)];
    }
    me.made.push_back({c, seq, now_ += 1000, false});
    return true;
  }
  bool complete(int r) {
    Rank& me = ranks_[static_cast<size_t>(r)];
    if (me.complete >= me.made.size() || !all_came(me.made[me.complete])) return false;
    me.made[me.complete].completed = me.complete < me.stuck_from;
    ++me.complete;
    return true;
  }
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < job_.ranks(); ++r) {
        moved = enqueue(r) || moved;
        while (complete(r)) moved = true;
      }
    }
  }

  const SyntheticJob& job_;
  std::vector<Group> groups_;
  std::vector<std::map<std::string, std::vector<size_t>>> groups_of_;
  std::vector<Rank> ranks_;
  int64_t now_ = 1'700'000'000'000'000'000;
};

FrDump Simulation::dump_of(int rank) const {
  const Rank& me = ranks_[static_cast<size_t>(rank)];
  FrDump dump;
  dump.version = "2.9";
  dump.comm_lib_version = "2.27.3";
  dump.backend = FrBackend::kNccl;
  dump.rank = rank;
  std::map<size_t, int64_t> pg_id;
  std::vector<size_t> mine;
  for (const auto& [desc, groups] : groups_of_[static_cast<size_t>(rank)])
    mine.insert(mine.end(), groups.begin(), groups.end());
  std::sort(mine.begin(), mine.end());
  for (const size_t g : mine) {
    const std::vector<int>& ranks = groups_[g].ranks;
    pg_id[g] = static_cast<int64_t>(pg_id.size());
    dump.groups.push_back({groups_[g].name, groups_[g].name, groups_[g].desc, {ranks.begin(), ranks.end()}});
    FrGroupStatus status{pg_id[g], 0, -1, 0};
    for (const Done& d : me.made)
      if (d.call.group == g) {
        status.last_enqueued = d.seq;
        if (d.completed) status.last_completed = d.seq;
      }
    if (status.last_enqueued == 0) status.last_enqueued = status.last_completed = -1;
    dump.status.push_back(status);
  }
  if (job_.broken == Broken::kTeardown && is_culprit(rank)) return dump;
  std::map<size_t, int64_t> collectives;
  for (size_t i = 0; i < me.made.size(); ++i) {
    const Done& d = me.made[i];
    const bool message = d.call.peer >= 0;
    if (!message) collectives[d.call.group] = d.seq;
    if ((job_.only_active && d.completed) || i + static_cast<size_t>(job_.kept) < me.made.size()) continue;
    const Group& g = groups_[d.call.group];
    FrEntry e;
    e.record_id = static_cast<int64_t>(i);
    e.pg_id = pg_id[d.call.group];
    e.group = {g.name, g.desc};
    e.collective_seq_id = collectives[d.call.group];
    e.p2p_seq_id = message ? d.seq : 0;
    e.op_id = d.seq;
    e.is_p2p = message;
    e.profiling_name = std::string("nccl:") + d.call.op;
    const auto me_in = std::find(g.ranks.begin(), g.ranks.end(), rank) - g.ranks.begin();
    if (message)
      e.profiling_name +=
          fmt::format(" {}{}{}", me_in, d.call.op == std::string("send") ? "->" : "<-", d.call.peer);
    const auto members = static_cast<int64_t>(g.ranks.size());
    const std::string op = d.call.op;
    e.input_sizes = {{d.call.size}};
    e.output_sizes = {{op == "_reduce_scatter_base" ? d.call.size / members
                       : op == "_all_gather_base"   ? d.call.size * members
                                                    : d.call.size}};
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

const char* name_of(SyntheticJob::Broken broken) {
  switch (broken) {
    case Broken::kNothing:
      return "nothing";
    case Broken::kHostStuck:
      return "host_stuck";
    case Broken::kDeviceStuck:
      return "device_stuck";
    case Broken::kSkipped:
      return "skipped_call";
    case Broken::kOtherSize:
      return "other_size";
    case Broken::kNoDump:
      return "no_dump";
    case Broken::kTeardown:
      return "teardown";
  }
  return "";
}

void each_synthetic_dump(const SyntheticJob& job, const std::function<void(FrDump)>& take) {
  const Simulation simulation(job);
  for (int r = 0; r < job.ranks(); ++r) {
    const auto among = [&](const std::vector<int>& ranks) {
      return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
    };
    if (among(job.lost_dumps) || (job.broken == Broken::kNoDump && among(job.culprits))) continue;
    take(simulation.dump_of(r));
  }
}

std::vector<FrDump> synthetic_dumps(const SyntheticJob& job) {
  std::vector<FrDump> dumps;
  each_synthetic_dump(job, [&](FrDump dump) { dumps.push_back(std::move(dump)); });
  return dumps;
}

}  // namespace rankfault::testing
