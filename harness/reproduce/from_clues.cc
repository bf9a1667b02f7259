#include "harness/reproduce/from_clues.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/rank_words.h"
#include "harness/reproduce/log_case.h"

namespace rankfault {
namespace {

constexpr int64_t kBytesOfFloat = 4;

class Understanding : public LogCase {
 public:
  Understanding(const std::vector<Clue>& clues, const std::set<int>& files, int absent)
      : LogCase(clues, files), absent_(absent) {}

  Case result() {
    // Where several ranks gave up several calls, it is not shown which of the calls belong together.
    const bool is_one_hang = job_.ranks_of_several_calls() <= 1;
    const bool found = is_one_hang && (not_joined() || named_by_library() || misfits() || died() ||
                                       lagging() || ended_first() || elsewhere() || silent() || overran() ||
                                       assumed() || segment_refused());
    if (!found || !case_.state.hangs()) nothing_is_said();
    if (absent_ >= 0 && case_.state.hangs() && case_.state.culprits != std::vector<int>{absent_})
      case_.known.push_back(fmt::format("--absent {} is not used: the log itself names {}", absent_,
                                        ranks_text(case_.state.culprits)));
    describe();
    return std::move(case_);
  }

 private:
  bool not_joined() {
    if (!waiters_.empty() || job_.unjoined.empty()) return false;
    std::set<int> missing;
    for (const Clue* c : job_.unjoined) missing.insert(c->about.begin(), c->about.end());
    // A store says which keys it waits for, or only how many ranks came.
    for (const Clue* c : job_.unjoined) waiters_.insert(c->rank >= 0 ? c->rank : 0);
    for (const int r : missing) waiters_.erase(r);
    if (missing.empty()) return false;
    blame("init_stall", missing,
          fmt::format("{} did not join: {}", ranks_text(sorted(missing)), job_.unjoined.front()->text));
    case_.known.push_back(
        fmt::format("{}: {}", place_text(*job_.unjoined.front()), job_.unjoined.front()->text));
    return true;
  }

  // A part of a report may list the ranks that did come.
  static bool names_absent_ranks(const Clue& c) {
    return !c.about.empty() && c.reason != "started" && c.reason != "finished" &&
           c.text.find("didn't finish") == std::string::npos;
  }

  // The library's own report names ranks: those that lag, or that made another call.
  bool named_by_library() {
    std::set<int> named;
    const Clue* by = nullptr;
    for (const Clue* c : job_.differs) {
      if (!names_absent_ranks(*c) || c->about.size() * 2 > static_cast<size_t>(case_.world_size)) continue;
      if (call_ && !c->op.empty() && c->op != call_->op) continue;
      named.insert(c->about.begin(), c->about.end());
      if (!by) by = c;
    }
    // A rank that gave up the call itself was in it, whatever the report says.
    for (const int r : job_.in_call) named.erase(r);
    if (!by || waiters_.empty() || named.empty()) return false;
    case_.known.push_back(
        fmt::format("{}: the library names {}: {}", place_text(*by), ranks_text(sorted(named)), by->text));
    const bool in_another_call =
        std::any_of(named.begin(), named.end(), [&](int r) { return gave_up_another(r); });
    blame(in_another_call ? "missing_call" : "stuck_outside", named,
          fmt::format("{} did not enter {}", ranks_text(sorted(named)), call_text()));
    return true;
  }

  // One rank received more than its call takes, and all others are in one call: that rank is in a smaller
  // one.
  bool misfits() {
    std::set<int> ranks;
    for (const auto& [rank, heard] : job_.ranks)
      if (heard.misfit) ranks.insert(rank);
    if (ranks.empty()) return false;
    if (!call_ || ranks.size() != 1 || silent_ranks() != ranks)
      return true;  // who is in another call is not shown
    const int rank = *ranks.begin();
    const Clue& message = *job_.ranks.at(rank).misfit;
    case_.known.push_back(fmt::format("{}: {}", place_text(message), message.text));
    blame("call_mismatch", ranks,
          fmt::format("rank {} made a smaller call than the others, who are in {}", rank, call_text()));
    case_.state.field = "count";
    smaller_ = std::max<int64_t>(1, message.bytes_expected / kBytesOfFloat);
    case_.guessed.push_back(fmt::format(
        "rank {} makes the same call with {} elements: the log shows only the bytes", rank, *smaller_));
    return true;
  }

  // The others lost their connections and none of them reached a limit: the silent ranks had ended.
  bool died() {
    const std::set<int> ranks = silent_ranks();
    if (!call_ || ranks.empty() || ranks.size() * 2 > static_cast<size_t>(case_.world_size)) return false;
    for (const auto& [rank, heard] : job_.ranks)
      if (ranks.count(rank) == 0 && (heard.timed_out || !heard.lost_peer || gave_up_another(rank)))
        return false;
    blame("dead_rank", ranks, fmt::format("{} did not enter {}", ranks_text(sorted(ranks)), call_text()));
    case_.guessed.push_back(
        fmt::format("{} ended: the others lost connections, and none of them reached a limit",
                    ranks_text(sorted(ranks))));
    return true;
  }

  // A root that waits alone in its call: the others did not make it.
  bool is_alone_as_root(int rank) const {
    const std::string& op = job_.ranks.at(rank).gave_up->op;
    return op == "broadcast" || op == "scatter" || op == "gather" || op == "reduce";
  }

  // A message of an old PyTorch names no group: a call at a far place may be one of another group.
  bool may_be_another_group(const Clue& c) const {
    constexpr int64_t kNear = 2;
    return c.group.empty() && call_->group.empty() && c.seq >= 0 && call_->seq >= 0 &&
           std::max(c.seq, call_->seq) - std::min(c.seq, call_->seq) > kNear;
  }

  // Ranks that gave up another call at the same time, or whose own count is behind.
  bool lagging() {
    if (!call_ || !silent_ranks().empty() || job_.only_losses()) return false;
    std::set<int> other, behind;
    for (const auto& [rank, heard] : job_.ranks) {
      if (waiters_.count(rank) > 0) continue;
      if (gave_up_another(rank) && may_be_another_group(*heard.gave_up)) return false;
      if (gave_up_another(rank)) other.insert(rank);
      if (call_->seq > 0 && heard.last_enqueued >= 0 && heard.last_enqueued < call_->seq) behind.insert(rank);
    }
    if (other.empty() && behind.empty()) return false;
    if (other.size() >= waiters_.size()) return false;
    if (other.size() == 1 && is_alone_as_root(*other.begin())) {
      call_ = *job_.ranks.at(*other.begin()).gave_up;
      if (call_->peer < 0) call_->peer = *other.begin();
      std::swap(other, waiters_);
    }
    if (!other.empty()) {
      blame("missing_call", other,
            fmt::format("{} made another call than the others, who wait in {}", ranks_text(sorted(other)),
                        call_text()));
      case_.guessed.push_back(
          "the ranks that gave up another call left this one out: the log does not show their calls "
          "before it");
    } else {
      blame("stuck_outside", behind,
            fmt::format("{} did not enter {}", ranks_text(sorted(behind)), call_text()));
    }
    return true;
  }

  // A process that ended, and did not end because it gave up a call or was asked to.
  bool ended_first() {
    std::vector<const Clue*> ends = job_.ends;
    std::stable_partition(ends.begin(), ends.end(),
                          [](const Clue* c) { return c->reason == "first observed failure"; });
    for (const Clue* c : ends) {
      const HeardRank& heard = job_.ranks.at(c->rank);
      if (heard.gave_up || heard.timed_out || heard.lost_peer || c->signal == 15 ||
          (c->signal < 0 && c->code <= 0))
        continue;
      if (waiters_.empty()) continue;
      const bool by_signal = c->signal > 0;
      blame(by_signal ? "dead_rank" : "exited_rank", {c->rank},
            by_signal ? fmt::format("rank {} was ended by signal {}; the others wait in {}", c->rank,
                                    c->signal, call_text())
                      : fmt::format("rank {} exited with {}; the others wait in {}", c->rank, c->code,
                                    call_text()));
      case_.known.push_back(fmt::format("{}: {}", place_text(*c), c->text));
      ended_ = *c;
      return true;
    }
    return false;
  }

  // A stack shows a rank in no communication call.
  bool elsewhere() {
    std::set<int> ranks;
    for (const auto& [rank, heard] : job_.ranks)
      if (heard.stack && heard.stack->op.empty() && !heard.gave_up && heard.stack->reason.empty())
        ranks.insert(rank);
    if (ranks.empty() || waiters_.empty() || ranks.size() > few_ranks(case_.world_size)) return false;
    case_.guessed.emplace_back("a stack shows one moment: the ranks stay where it shows them");
    const Clue& one = *job_.ranks.at(*ranks.begin()).stack;
    case_.known.push_back(fmt::format("{}: rank {} is in {}", place_text(one), *ranks.begin(),
                                      one.frames.empty() ? "no communication call" : one.frames.front()));
    blame("stuck_outside", ranks, fmt::format("{} did not enter {}", ranks_text(sorted(ranks)), call_text()));
    return true;
  }

  // All others gave up one call, and a few ranks say nothing.
  bool silent() {
    if (!call_ || !is_group_of_all(call_->group)) return false;
    if (job_.world_is_guessed && waiters_.size() < 2)
      return false;  // one rank does not show how many there are
    const std::set<int> ranks = silent_ranks();
    if (ranks.empty() || ranks.size() > few_ranks(case_.world_size)) return false;
    blame("stuck_outside", ranks, fmt::format("{} did not enter {}", ranks_text(sorted(ranks)), call_text()));
    case_.guessed.push_back(fmt::format("{} {} no message, and all others gave up the call",
                                        ranks_text(sorted(ranks)), ranks.size() == 1 ? "has" : "have"));
    case_.questions.push_back(
        "what did these ranks do? Their stacks (py-spy dump) or Flight Recorder dumps answer it");
    return true;
  }

  // Its limit of the call passed long before it looked at its clock: the process had not run.
  bool overran() {
    std::set<int> ranks;
    for (const auto& [rank, heard] : job_.ranks)
      if (heard.gave_up && heard.gave_up->limit_ms > 0 && heard.gave_up->ran_ms > 2 * heard.gave_up->limit_ms)
        ranks.insert(rank);
    if (!call_ || ranks.size() != 1 || !silent_ranks().empty()) return false;
    const Clue& c = *job_.ranks.at(*ranks.begin()).gave_up;
    blame("stopped_rank", ranks,
          fmt::format("rank {} noticed its limit of {} ms after {} ms; the others wait in {}", c.rank,
                      c.limit_ms, c.ran_ms, call_text()));
    case_.guessed.push_back(
        fmt::format("rank {} was stopped: its own clock ran {} times as long as its limit", c.rank,
                    c.ran_ms / c.limit_ms));
    return true;
  }

  // The user says which rank did not come.
  bool assumed() {
    if (absent_ < 0 || !call_ || waiters_.count(absent_) > 0) return false;
    case_.world_size = std::max(case_.world_size, absent_ + 1);
    blame("stuck_outside", {absent_}, fmt::format("rank {} did not enter {}", absent_, call_text()));
    case_.guessed.push_back(fmt::format("rank {} did not come: --absent says so, the log does not", absent_));
    return true;
  }

  // NCCL could not attach to a segment of its own: it was gone, or refused.
  bool segment_refused() {
    for (const Clue* c : job_.resources) {
      constexpr const char* kSegments = "/dev/shm/nccl-";
      if (call_ || c->path.rfind(kSegments, 0) != 0 || c->host_call.find("attach") == std::string::npos)
        continue;
      case_.world_size = std::max(2, case_.world_size);
      blame("host_resource", {}, c->text);
      case_.state.resource = kSegments;
      case_.known.push_back(fmt::format("{}: {}", place_text(*c), c->text));
      case_.guessed.push_back("the name of the segment was removed between its creation and the attach");
      return true;
    }
    return false;
  }

  void nothing_is_said() {
    if (!call_ && job_.without_rank.empty()) {
      case_.questions.push_back(
          "the log names no communication call that a rank waits in, so it does not show what hangs: "
          "Flight Recorder dumps, or a run under `rankfault watch`, show it");
      return;
    }
    const Clue& c = call_ ? *call_ : *job_.without_rank.front();
    case_.known.push_back(fmt::format("{}: {}", place_text(c), c.text));
    case_.questions.push_back(
        "the log does not show which rank did not come: the logs of all ranks, or their Flight "
        "Recorder dumps, show it; --absent RANK assumes that this rank did not come");
  }

  const int absent_;
};

// "c10d", "mpi", "gloo" or "": by the words that only one of them writes.
std::string library_of(const std::vector<Clue>& clues) {
  for (const Clue& c : clues) {
    if (c.text.find("WorkNCCL") != std::string::npos || c.text.find("ProcessGroup") != std::string::npos ||
        c.text.find("torch") != std::string::npos || c.text.find("NCCL") != std::string::npos)
      return "c10d";
    if (c.text.find("MPI") != std::string::npos || c.text.find("mpirun") != std::string::npos) return "mpi";
  }
  for (const Clue& c : clues)
    if (c.text.find("gloo") != std::string::npos) return "gloo";
  return "";
}

}  // namespace

Case case_from_clues(const std::vector<Clue>& clues, const std::set<int>& files, int absent) {
  Case c = Understanding(clues, files, absent).result();
  c.library = library_of(clues);
  return c;
}

}  // namespace rankfault
