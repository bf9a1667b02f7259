#include "tests/support/parallel_job.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace rankfault::testing {
namespace {

using Broken = SyntheticJob::Broken;

bool among(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

constexpr const char* kNames[] = {"nothing",     "host_stuck",  "device_stuck", "skipped_call",
                                  "other_size",  "no_dump",     "teardown",     "extra_call",
                                  "other_order", "size_of_all", "wedged"};

}  // namespace

bool SyntheticJob::is_culprit(int rank) const { return among(culprits, rank); }
bool SyntheticJob::is_lost(int rank) const { return among(lost_dumps, rank); }

const char* name_of(Broken broken) {
  const auto at = static_cast<size_t>(broken);
  return at < std::size(kNames) ? kNames[at] : "";
}

ParallelJob::ParallelJob(const SyntheticJob& job) : job_(job), ranks_(static_cast<size_t>(job.ranks())) {
  make_groups();
  for (int r = 0; r < job_.ranks(); ++r) plan(r);
  for (const int r : job_.culprits) break_it(r);
  run();
}

void ParallelJob::add_group(const std::string& desc, std::vector<int> ranks) {
  for (const int r : ranks) groups_of_[static_cast<size_t>(r)][desc].push_back(groups_.size());
  groups_.push_back({std::to_string(groups_.size()), desc, std::move(ranks)});
}

void ParallelJob::make_groups() {
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
  came_.resize(groups_.size());
}

std::vector<size_t> ParallelJob::groups_of(int rank) const {
  std::vector<size_t> mine;
  for (const auto& [desc, groups] : groups_of_[static_cast<size_t>(rank)])
    mine.insert(mine.end(), groups.begin(), groups.end());
  std::sort(mine.begin(), mine.end());
  return mine;
}

void ParallelJob::plan(int r) {
  std::vector<Planned>& program = ranks_[static_cast<size_t>(r)].program;
  const auto pass = [&](bool forward, int step) {
    for (const size_t g : groups(r, "PIPELINE_PARALLEL")) {
      const bool first = groups_[g].ranks[0] == r;
      if (first != forward) program.push_back({g, "recv", first ? 1 : 0, 4096, step});
    }
    for (const size_t g : groups(r, "TENSOR_PARALLEL")) program.push_back({g, "all_reduce", -1, 2048, step});
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

void ParallelJob::break_it(int r) {
  Rank& me = ranks_[static_cast<size_t>(r)];
  const auto first = [&](auto fits) {
    return std::find_if(me.program.begin(), me.program.end(),
                        [&](const Planned& c) { return c.step == job_.at_step && fits(c); });
  };
  const auto at = first([](const Planned& c) { return !std::strcmp(c.op, "_reduce_scatter_base"); });
  const auto of_all = first([](const Planned& c) { return c.group == 0; });
  switch (job_.broken) {
    case Broken::kSkipped:
      me.program.erase(at);
      break;
    case Broken::kExtra:
      me.program.insert(at, Planned(*at));
      break;
    case Broken::kOtherOrder:
      std::rotate(at, of_all, of_all + 1);
      break;
    case Broken::kOtherSize:
      at->size = 4096;
      break;
    case Broken::kSizeOfAll:
      of_all->size = 2;
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
    case Broken::kWedged:
      break;
  }
}

// Whether the partner of a message, or every member of a collective's group, has enqueued it.
bool ParallelJob::all_came(const Planned& c, const Made& m) const {
  const Group& g = groups_[c.group];
  const auto seq = static_cast<size_t>(m.seq);
  if (c.peer < 0) {
    if (job_.broken == Broken::kWedged && c.group == 0 && c.step == job_.at_step) return false;
    const Came& came = came_[c.group][seq];
    return came.count == g.ranks.size() && !(job_.host_calls && came.differ);
  }
  if (job_.host_calls && !std::strcmp(c.op, "send")) return true;
  const Rank& peer = ranks_[static_cast<size_t>(g.ranks[static_cast<size_t>(c.peer)])];
  const auto count = peer.messages.find(c.group);
  return count != peer.messages.end() && count->second >= m.seq;
}

bool ParallelJob::enqueue(int r) {
  Rank& me = ranks_[static_cast<size_t>(r)];
  const size_t seen_complete = std::min(me.complete, me.stuck_from);
  if (me.next >= me.program.size() || me.next - seen_complete >= static_cast<size_t>(job_.ahead))
    return false;
  const Planned& c = me.program[me.next++];
  const int64_t seq = c.peer >= 0 ? ++me.messages[c.group] : ++me.collectives[c.group];
  if (c.peer < 0) {
    std::vector<Came>& came = came_[c.group];
    came.resize(std::max(came.size(), static_cast<size_t>(seq) + 1));
    Came& here = came[static_cast<size_t>(seq)];
    if (here.count++ == 0) here.op = c.op, here.size = c.size;
    here.differ = here.differ || here.size != c.size || std::strcmp(here.op, c.op) != 0;
  }
  me.made.push_back({seq, now_ += 1000, 0, false});
  return true;
}

bool ParallelJob::complete(int r) {
  Rank& me = ranks_[static_cast<size_t>(r)];
  if (me.complete >= me.made.size() || !all_came(me.program[me.complete], me.made[me.complete])) return false;
  Made& m = me.made[me.complete];
  m.completed = me.complete < me.stuck_from;
  m.completed_at = now_;
  ++me.complete;
  return true;
}

void ParallelJob::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int r = 0; r < job_.ranks(); ++r) {
      moved = enqueue(r) || moved;
      while (complete(r)) moved = true;
    }
  }
}

std::vector<int> ranks_in(const char* text) {
  std::vector<int> ranks;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    if (word != "-") ranks.push_back(std::atoi(word.c_str()));
  return ranks;
}

}  // namespace rankfault::testing
