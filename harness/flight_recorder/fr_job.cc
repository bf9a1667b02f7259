#include "harness/flight_recorder/fr_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "harness/flight_recorder/absent_ranks.h"
#include "harness/flight_recorder/fr_words.h"
#include "harness/flight_recorder/group_calls.h"
#include "harness/flight_recorder/worlds.h"

namespace rankfault {
namespace {

constexpr uint64_t kBefore = 64, kAfter = 192;  // calls kept around a disagreement
constexpr size_t kMostKept = 100'000;           // of a dump: calls that are not complete

struct GroupOf {  // a group as one process knows it
  int64_t pg_id = -1;
  bool in_config = false;
  std::string desc;
  std::vector<int> ranks;
  uint64_t entered = 0, started = 0, last_message = 0, timeout_ms = 0;
  FrGroupStatus status;
};

struct KeptCall {
  std::string group;
  rf_record record{};
  bool done = false, started = false;
  std::string site;
};

// The calls of one group at one place. They were coalesced if there are several, or an entry that ends them.
struct Coalesced {
  int calls = 0;
  bool ended = false, done = false;
};
using CallKey = std::tuple<std::string, bool, uint64_t>;  // group, is it a message, seq

struct OneRank {
  FrSource source;
  int rank = -1;
  FrBackend backend = FrBackend::kUnknown;
  int64_t clock_offset = 0;
  std::map<std::string, GroupOf> groups;  // by name
  std::vector<KeptCall> kept;
  std::map<CallKey, Coalesced> together;
};

// A word that differs if the operation, the type or the count of two calls differ (by hash). The diagnosis
// decides what the difference means.
uint64_t signature(const rf_record& r) {
  const uint64_t count = r.flags & (RF_CALL_RANK_LOCAL | RF_CALL_COUNT_UNKNOWN) ? 0 : r.count;
  return (uint64_t{r.op} << 56 | uint64_t{r.dtype} << 48 | 1) ^
         (count * 0x9e3779b97f4a7c15ull >> 16 & ~uint64_t{1});
}

uint64_t count_of(int64_t n) { return n > 0 ? static_cast<uint64_t>(n) : 0; }

rf_record record_of(const FrEntry& e) {
  rf_record r{};
  r.op = fr_op(e);
  r.dtype = fr_dtype(e);
  r.count = fr_count(e);
  r.peer = fr_peer(e);
  r.seq = static_cast<uint64_t>(std::max<int64_t>(0, e.is_p2p ? e.p2p_seq_id : e.collective_seq_id));
  r.time_ns = count_of(e.time_created_ns);
  r.phase = RF_PHASE_ENTER;
  r.library = backend_of(e.profiling_name) == FrBackend::kGloo ? RF_LIB_C10D : RF_LIB_NCCL;
  r.flags = RF_CALL_NONBLOCKING;
  // In these operations the counts of the ranks may differ, and so may the root's.
  if (r.op == RF_OP_ALL_TO_ALLV || r.op == RF_OP_GATHER || r.op == RF_OP_SCATTER || r.op == RF_OP_ALL_GATHER)
    r.flags |= RF_CALL_RANK_LOCAL;
  if (e.profiling_name.find("_all_gather_base") != std::string::npos)
    r.flags &= static_cast<uint16_t>(~RF_CALL_RANK_LOCAL);
  return r;
}

class Reader {
 public:
  Reader(const FrLimits& limits, FrHistory history, FrJob& job)
      : limits_(limits), history_(history), job_(job) {}

  Status read(const std::vector<FrSource>& sources) {
    for (const FrSource& source : sources) read_one(source);
    if (ranks_.empty()) return usage_error("no Flight Recorder dump of a known rank could be read");
    for (OneRank& one : ranks_)
      if (history_ != FrHistory::kWhole && disagrees(one)) read_around(one);
    return Done{};
  }
  std::vector<OneRank>& ranks() { return ranks_; }
  Instant newest() const { return newest_; }
  const Worlds& worlds() const { return worlds_; }

 private:
  void read_one(const FrSource& source) {
    OneRank one;
    one.source = source;
    std::vector<std::tuple<std::string, uint64_t, uint64_t>> places;
    const FrSink sink = [&](FrEntry& e) -> Status {
      take(one, e, places);
      return Done{};
    };
    const Result<FrDump> dump = read_dump(source, limits_, sink);
    const int64_t rank = dump.ok() && dump->rank >= 0 ? dump->rank : source.rank;
    if (!dump.ok()) {
      job_.evidence.push_back({FrEvidence::Kind::kUnreadable, source.path, rank, dump.error().to_string()});
      return;
    }
    if (rank < 0 || rank >= (1 << 20) || !seen_.insert(rank).second) return;  // find_dumps reports it
    one.rank = static_cast<int>(rank);
    one.backend = dump->backend;
    one.clock_offset = dump->side ? dump->side->clock_offset_ns : 0;
    settle_coalesced(one);
    take_header(one, *dump);
    for (const auto& [group, seq, word] : places) places_[key(one, group)].take(seq, word);
    ranks_.push_back(std::move(one));
    ++job_.dumps;
  }

  void take(OneRank& one, const FrEntry& e,
            std::vector<std::tuple<std::string, uint64_t, uint64_t>>& places) {
    const rf_record r = record_of(e);
    GroupOf& g = one.groups[e.group.name];
    if (g.desc.empty()) g.desc = e.group.desc;
    g.pg_id = e.pg_id;
    if (e.timeout_ms > 0) g.timeout_ms = static_cast<uint64_t>(e.timeout_ms);
    g.entered = std::max(g.entered, static_cast<uint64_t>(std::max<int64_t>(0, e.collective_seq_id)));
    if (e.is_p2p) g.last_message = std::max(g.last_message, r.seq);
    const bool started = e.state == FrState::kStarted || e.time_discovered_started_ns.has_value();
    if (started && !e.is_p2p) g.started = std::max(g.started, r.seq);
    newest_ = std::max({newest_, instant_of(r.time_ns), time_of(e.time_discovered_started_ns),
                        time_of(e.time_discovered_completed_ns)});
    Coalesced& together = one.together[{e.group.name, e.is_p2p, r.seq}];
    if (fr_ends_a_group(e)) {
      together.ended = true;
      together.done = fr_done(e);
      return;
    }
    const bool first = ++together.calls == 1;
    if (first && !e.is_p2p && r.seq != 0) places.emplace_back(e.group.name, r.seq, signature(r));
    const bool done = fr_done(e);
    if ((!done || history_ == FrHistory::kWhole) && r.op != RF_OP_NONE && one.kept.size() < kMostKept)
      one.kept.push_back({e.group.name, r, done, started, fr_call_site(e)});
  }

  // PyTorch gives the state of coalesced calls to the entry that ends them. Without that entry their state is
  // not known, and they are left out.
  void settle_coalesced(OneRank& one) const {
    std::vector<KeptCall> settled;
    for (KeptCall& k : one.kept) {
      const bool message = k.record.op == RF_OP_SEND || k.record.op == RF_OP_RECV;
      const Coalesced& together = one.together[{k.group, message, k.record.seq}];
      const bool unknown = !k.done && !together.ended && together.calls > 1;
      const bool done_together = !k.done && together.ended && together.done;
      if (unknown || (done_together && history_ != FrHistory::kWhole)) continue;
      k.done = k.done || done_together;
      settled.push_back(std::move(k));
    }
    one.kept = std::move(settled);
  }
  static Instant time_of(const std::optional<int64_t>& t) { return instant_of(count_of(t.value_or(0))); }

  void take_header(OneRank& one, const FrDump& dump) {
    for (const FrGroupConfig& config : dump.groups) {
      if (config.ranks.empty()) continue;
      GroupOf& g = one.groups[config.key.empty() ? config.name : config.key];
      g.in_config = true;
      g.desc = config.desc;
      for (const int64_t r : config.ranks)
        g.ranks.push_back(static_cast<int>(std::clamp<int64_t>(r, -1, 1 << 20)));
      if (config.desc == "default_pg") worlds_.add(config.ranks.size(), one.rank);
    }
    std::map<int64_t, std::string> name_of;
    for (const auto& [name, g] : one.groups)
      if (g.pg_id >= 0) name_of[g.pg_id] = name;
    name_the_rest(one, dump, name_of);
    for (const FrGroupStatus& s : dump.status)
      if (const auto at = name_of.find(s.pg_id); at != name_of.end()) one.groups[at->second].status = s;
  }

  // pg_status numbers the groups of the process, and pg_config names them by a number of the job. Both
  // numbers grow in the order in which groups are made, so the n-th of one is the n-th of the other. This is
  // used only if it agrees with the entries.
  static void name_the_rest(const OneRank& one, const FrDump& dump, std::map<int64_t, std::string>& name_of) {
    std::vector<std::pair<int64_t, std::string>> names;
    std::vector<int64_t> ids;
    for (const auto& [name, g] : one.groups) {
      char* end = nullptr;
      const long number = std::strtol(name.c_str(), &end, 10);
      if (name.empty() || *end) return;
      names.emplace_back(number, name);
    }
    for (const FrGroupStatus& s : dump.status) ids.push_back(s.pg_id);
    if (ids.size() != names.size()) return;
    std::sort(names.begin(), names.end());
    std::sort(ids.begin(), ids.end());
    for (size_t i = 0; i < ids.size(); ++i)
      if (const auto at = name_of.find(ids[i]); at != name_of.end() && at->second != names[i].second) return;
    for (size_t i = 0; i < ids.size(); ++i) name_of[ids[i]] = names[i].second;
  }

  using Key = std::pair<std::string, std::vector<int>>;
  static Key key(const OneRank& one, const std::string& group) { return {group, one.groups.at(group).ranks}; }

  bool disagrees(const OneRank& one) {
    return std::any_of(one.groups.begin(), one.groups.end(), [&](const auto& g) {
      const auto at = places_.find(key(one, g.first));
      return at != places_.end() && at->second.differs_at != 0;
    });
  }

  // Reads the dump again. Replaces the kept calls by those that are not complete and those around the first
  // disagreement of each group.
  void read_around(OneRank& one) {
    std::vector<KeptCall> kept;
    const FrSink sink = [&](FrEntry& e) -> Status {
      const rf_record r = record_of(e);
      const auto at = one.groups.count(e.group.name) ? places_.find(key(one, e.group.name)) : places_.end();
      const uint64_t differs = at == places_.end() ? 0 : at->second.differs_at;
      const bool near = differs != 0 && !e.is_p2p && r.seq + kBefore >= differs && r.seq <= differs + kAfter;
      if (r.op == RF_OP_NONE || (fr_done(e) && !near)) return Done{};
      const bool started = e.state == FrState::kStarted || e.time_discovered_started_ns.has_value();
      kept.push_back({e.group.name, r, fr_done(e), started, fr_call_site(e)});
      return Done{};
    };
    if (!read_dump(one.source, limits_, sink).ok()) return;
    std::erase_if(kept,
                  [&](const KeptCall& k) { return one.groups.count(k.group) == 0; });  // rewritten meanwhile
    one.kept = std::move(kept);
    settle_coalesced(one);
  }

  const FrLimits& limits_;
  const FrHistory history_;
  FrJob& job_;
  std::vector<OneRank> ranks_;
  std::map<Key, GroupCalls> places_;
  std::set<int64_t> seen_;
  Worlds worlds_;
  Instant newest_;
};

// If a dump does not list the members of a group, they are all ranks that know a group of that name.
void complete_members(std::vector<OneRank>& ranks) {
  std::map<std::string, std::vector<int>> known;
  for (const OneRank& one : ranks)
    for (const auto& [name, g] : one.groups) known[name].push_back(one.rank);
  for (OneRank& one : ranks)
    for (auto& [name, g] : one.groups)
      if (g.ranks.empty()) g.ranks = known[name];
}

// The groups with sends or receives. In these the counts of pg_status are of both kinds of calls.
std::set<std::string> groups_with_messages(const std::vector<OneRank>& ranks) {
  std::set<std::string> found;
  for (const OneRank& one : ranks)
    for (const auto& [name, g] : one.groups)
      if (g.last_message != 0) found.insert(name);
  return found;
}

std::string name_text(const std::string& name, const GroupOf& g) {
  if (g.desc.empty() || g.desc == "undefined") return "group " + name;
  return g.desc == "default_pg" ? "world" : fmt::format("{} ({})", g.desc, name);
}

CommView comm_of(const OneRank& one, const std::string& name, const GroupOf& g, uint32_t index, bool messages,
                 int world_size) {
  CommView c;
  c.index = index;
  std::string identity = name;
  for (const int r : g.ranks) identity += fmt::format(" {}", r);
  c.id = std::max<uint64_t>(1, rf_hash_text(identity.c_str()));
  c.size = static_cast<uint32_t>(g.ranks.size());
  c.members = g.ranks;
  const auto me = std::find(g.ranks.begin(), g.ranks.end(), one.rank);
  c.rank = me == g.ranks.end() ? -1 : static_cast<int>(me - g.ranks.begin());
  c.flags = RF_COMM_POSITIONAL;
  if (static_cast<int>(c.size) == world_size && g.desc == "default_pg") c.flags |= RF_COMM_WORLD;
  c.ordinal = index;
  c.library = one.backend == FrBackend::kGloo ? RF_LIB_C10D : RF_LIB_NCCL;
  c.identity = RF_ID_NAME;
  c.name = name_text(name, g);
  c.timeout = duration_of(g.timeout_ms * 1'000'000);
  c.entered = g.entered;
  c.started = g.started;
  const uint64_t enqueued = count_of(g.status.last_enqueued);
  if (!messages) {
    c.entered = std::max(c.entered, enqueued);
    c.started = std::max(c.started, count_of(g.status.last_started));
  }
  c.sends = c.receives = std::max(g.last_message, messages && enqueued > c.entered ? enqueued : 0);
  c.completed = c.entered;
  c.issuers = 1;
  return c;
}

void add_call(ProcessView& p, const KeptCall& kept, const OneRank& one, CommView& comm) {
  rf_record r = kept.record;
  LaneView& lane = p.lanes.front();
  r.time_ns += static_cast<uint64_t>(one.clock_offset);
  r.comm = comm.index;
  r.call = ++lane.state.call;
  if (!kept.site.empty()) {
    r.where = rf_hash_text(kept.site.c_str());
    p.call_sites[r.where] = kept.site;
  }
  const auto add = [&](uint8_t phase) {
    r.phase = phase;
    r.commit = lane.head + 1;
    p.history.push_back({0, lane.head++, r});
  };
  add(RF_PHASE_ENTER);
  r.where = 0;
  r.tag_or_result = 0;
  add(kept.done ? RF_PHASE_EXIT : RF_PHASE_ENQUEUE);
  if (!kept.done && r.op != RF_OP_SEND && r.op != RF_OP_RECV && r.seq != 0)
    comm.completed = std::min(comm.completed, r.seq - 1);
}

ProcessView process_of(const OneRank& one, const std::set<std::string>& messages, int world_size) {
  ProcessView p;
  p.id = {0, 0, one.rank, 0, 0};
  p.stage = RF_STAGE_MEMBER;
  p.rank = one.rank;
  p.world_size = world_size;
  p.history_lost = 1;  // a dump holds only the end of a ring, or only active entries
  LaneView lane;
  lane.kind = RF_LANE_STREAM;
  p.lanes.push_back(lane);
  std::map<std::string, uint32_t> index;
  for (const auto& [name, g] : one.groups) {
    index[name] = static_cast<uint32_t>(p.comms.size());
    p.comms.push_back(comm_of(one, name, g, index[name], messages.count(name) != 0, world_size));
  }
  for (const KeptCall& kept : one.kept) add_call(p, kept, one, p.comms[index.at(kept.group)]);
  return p;
}

Timeline timeline_of(std::vector<OneRank>& ranks, Instant newest, std::vector<FrEvidence>& evidence) {
  complete_members(ranks);
  std::sort(ranks.begin(), ranks.end(), [](const OneRank& a, const OneRank& b) { return a.rank < b.rank; });
  Timeline t;
  for (const OneRank& one : ranks) {
    t.world_size = std::max(t.world_size, one.rank + 1);
    for (const auto& [name, g] : one.groups)
      for (const int r : g.ranks) t.world_size = std::max(t.world_size, r + 1);
  }
  const std::set<std::string> messages = groups_with_messages(ranks);
  t.begin = Instant(1ns);
  t.look = newest;
  std::set<int> there;
  for (const OneRank& one : ranks) {
    there.insert(one.rank);
    t.processes.push_back(process_of(one, messages, t.world_size));
  }
  expect_absent(t, there, evidence);
  return t;
}

}  // namespace

Result<FrJob> read_fr_job(const std::vector<std::string>& paths, const FrLimits& limits, FrHistory history) {
  Result<FrSources> sources = find_dumps(paths, limits);
  if (!sources.ok()) return sources.error();
  FrJob job;
  job.evidence = std::move(sources->evidence);
  Reader reader(limits, history, job);
  if (Status read = reader.read(sources->sources); !read.ok()) return read.error();
  job.not_one_job = reader.worlds().disagreement();
  job.timeline = timeline_of(reader.ranks(), reader.newest(), job.evidence);
  return job;
}

bool looks_like_dumps(const std::string& path) {
  const Result<FrSources> sources = find_dumps({path});
  return sources.ok() && !sources->sources.empty();
}

}  // namespace rankfault
