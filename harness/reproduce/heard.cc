#include "harness/reproduce/heard.h"

#include <algorithm>
#include <tuple>

namespace rankfault {
namespace {

constexpr int kMostRanksHeard = 1 << 20;

bool names_a_loss(const std::string& text) {
  return text.find("closed by peer") != std::string::npos || text.find("reset by peer") != std::string::npos;
}

// The gradients of DDP are summed while backward() runs: an exception of a communication library that left it
// was in an all_reduce. FSDP's would be a reduce_scatter.
bool left_backward(const Clue& c) {
  return std::any_of(c.frames.begin(), c.frames.end(), [](const std::string& frame) {
    return frame.find("_engine_run_backward") != std::string::npos;
  });
}

bool is_of_communication(const std::string& text) {
  for (const char* word : {"gloo", "NCCL", "Timed out waiting", "Connection closed by peer", "ProcessGroup"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

// Where ranks give different counts by design, counts do not tell calls apart.
int64_t telling_count(const Clue& c) {
  for (const char* word : {"gather", "scatter", "all_to_all"})
    if (c.op.find(word) != std::string::npos) return -1;
  return c.numel_in;
}

std::tuple<std::string, std::string, int64_t, int64_t> key_of(const Clue& c) {
  return {is_group_of_all(c.group) ? "" : c.group, c.op, c.seq, telling_count(c)};
}

// Whether a local rank is a rank of the job: the messages name one host, and no rank that is higher than all
// local ones.
bool one_host(const std::vector<Clue>& clues) {
  std::set<std::string> hosts;
  int highest_local = -1, highest = -1;
  for (const Clue& c : clues) {
    if (!c.host.empty()) hosts.insert(c.host);
    (c.rank_is_local ? highest_local : highest) = std::max(c.rank_is_local ? highest_local : highest, c.rank);
  }
  return hosts.size() <= 1 && highest <= std::max(highest_local, 0);
}

}  // namespace

bool is_group_of_all(const std::string& group) {
  return group.empty() || group == "0" || group.find("default") != std::string::npos || group == "world" ||
         group == "MPI_COMM_WORLD";
}

bool same_call(const Clue& a, const Clue& b) { return key_of(a) == key_of(b); }

HeardJob::HeardJob(std::vector<Clue> clues, const std::set<int>& files) : clues_(std::move(clues)) {
  if (!files.empty()) highest_ = std::min(*files.rbegin(), kMostRanksHeard - 1);
  const bool local_is_world = one_host(clues_);
  for (Clue& clue : clues_) {
    if (clue.rank_is_local && !local_is_world) clue.rank = -1;  // of which host it is, is not known
    hear(clue);
  }
  world_is_guessed = world_size == 0;
  world_size = std::max(world_size, highest_ + 1);
  if (world_is_guessed) world_size = std::max(2, world_size);
  find_call();
}

void HeardJob::hear(const Clue& c) {
  if (c.world_size > 0 && c.world_size <= kMostRanksHeard) world_size = std::max(world_size, c.world_size);
  for (const int r : c.about)
    if (r < kMostRanksHeard) highest_ = std::max(highest_, r);
  if (c.kind == ClueKind::kNotJoined) unjoined.push_back(&c);
  if (c.kind == ClueKind::kHostResource) resources.push_back(&c);
  if (c.kind == ClueKind::kDiffers) differs.push_back(&c);
  if (c.rank < 0 || c.rank >= kMostRanksHeard) {
    if (c.kind == ClueKind::kCallTimedOut && !c.op.empty()) without_rank.push_back(&c);
    return;
  }
  highest_ = std::max(highest_, c.rank);
  HeardRank& rank = ranks[c.rank];
  rank.last_enqueued = std::max(rank.last_enqueued, c.last_enqueued);
  const bool names_a_call = !c.op.empty();
  if (c.kind == ClueKind::kCallTimedOut && names_a_call) {
    if (!rank.gave_up) rank.gave_up = c;
    if (rank.gave_up->limit_ms < 0) rank.gave_up->limit_ms = c.limit_ms;
    rank.calls.emplace(c.op, c.seq);
  }
  // An exception that left a communication call is the rank's own word that it waited in it.
  if (c.kind == ClueKind::kLibraryError && names_a_call && !rank.gave_up) rank.gave_up = c;
  if (c.kind == ClueKind::kLibraryError && !names_a_call && left_backward(c) && is_of_communication(c.text) &&
      !rank.gave_up) {
    rank.gave_up = c;
    rank.gave_up->op = "all_reduce";
    in_backward = true;
  }
  rank.timed_out |= c.kind == ClueKind::kCallTimedOut || c.text.find("Timed out") != std::string::npos;
  rank.lost_peer |= c.kind == ClueKind::kPeerLost || names_a_loss(c.text);
  if (c.bytes_expected >= 0 && !rank.misfit) rank.misfit = c;
  if (c.kind == ClueKind::kStack && !rank.stack) rank.stack = c;
  if (c.kind == ClueKind::kEnded && !rank.end) rank.end = c, ends.push_back(&c);
}

void HeardJob::find_call() {
  std::map<std::tuple<std::string, std::string, int64_t, int64_t>, std::set<int>> by_call;
  for (const auto& [rank, heard] : ranks) {
    const std::optional<Clue>& c = heard.gave_up ? heard.gave_up : heard.stack;
    if (c && !c->op.empty()) by_call[key_of(*c)].insert(rank);
  }
  const auto most = std::max_element(by_call.begin(), by_call.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (most == by_call.end()) return;
  in_call = most->second;
  const HeardRank& one = ranks.at(*in_call.begin());
  call = one.gave_up ? &*one.gave_up : &*one.stack;
}

size_t HeardJob::ranks_of_several_calls() const {
  return static_cast<size_t>(
      std::count_if(ranks.begin(), ranks.end(), [](const auto& one) { return one.second.calls.size() > 1; }));
}

bool HeardJob::only_losses() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const auto& one) { return one.second.lost_peer && !one.second.timed_out; });
}

}  // namespace rankfault
