#include "harness/reproduce/log_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/rank_words.h"

namespace rankfault {
namespace {

constexpr uint64_t kCallsBefore = 3;

}  // namespace

std::string place_text(const Clue& c) { return fmt::format("{}:{}", c.file, c.line); }

LogCase::LogCase(const std::vector<Clue>& clues, const std::set<int>& files)
    : job_(clues, files), waiters_(job_.in_call) {
  if (job_.call) call_ = *job_.call;
  case_.world_size = job_.world_size;
}

void LogCase::blame(const char* kind, const std::set<int>& ranks, const std::string& text) {
  case_.state.kind = kind;
  case_.state.culprits = sorted(ranks);
  case_.state.text = text;
  for (const int r : ranks) waiters_.erase(r);
}

std::set<int> LogCase::silent_ranks() const {
  std::set<int> ranks;
  for (int r = 0; r < case_.world_size; ++r) {
    const auto at = job_.ranks.find(r);
    const bool is_silent = at == job_.ranks.end() || (!at->second.gave_up && !at->second.stack);
    if (is_silent && !has_passed(r)) ranks.insert(r);
  }
  for (const int r : waiters_) ranks.erase(r);
  return ranks;
}

// Its own count says that it made the call.
bool LogCase::has_passed(int rank) const {
  const auto at = job_.ranks.find(rank);
  return call_ && call_->seq > 0 && at != job_.ranks.end() && at->second.last_enqueued >= call_->seq;
}

bool LogCase::gave_up_another(int rank) const {
  const auto at = job_.ranks.find(rank);
  return at != job_.ranks.end() && at->second.gave_up && call_ && !same_call(*at->second.gave_up, *call_);
}

std::string LogCase::call_text() const {
  std::string text = call_ ? call_->op : "a call";
  if (call_ && call_->seq > 0) text += fmt::format(" {}", call_->seq);
  return text + (call_ && !is_group_of_all(call_->group) ? " on " + call_->group : " on world");
}

CaseCall LogCase::waited_call() const {
  CaseCall call{.group = 0, .op = call_->op, .dtype = call_->dtype, .open = true};
  call.count = call_->numel_in;
  call.seq = place();
  call.peer = call_->peer < case_.world_size ? static_cast<int>(call_->peer) : -1;
  return call;
}

// The ranks had made such calls before: a hang in the first call of all is another state.
void LogCase::add_calls_before(CaseRank& rank) const {
  CaseCall call = waited_call();
  call.open = false;
  for (uint64_t i = kCallsBefore; i > 0; --i) {
    call.seq = place() - i;
    rank.calls.push_back(call);
  }
}

// Of the call in the small job: its own place if the log has it, else the one after the calls before it.
uint64_t LogCase::place() const {
  return call_->seq > static_cast<int64_t>(kCallsBefore) ? static_cast<uint64_t>(call_->seq)
                                                         : kCallsBefore + 1;
}

// The members of the call's group: all ranks, or those that the log names.
std::vector<int> LogCase::members() {
  std::vector<int> all;
  if (!call_ || is_group_of_all(call_->group)) {
    for (int r = 0; r < case_.world_size; ++r) all.push_back(r);
    return all;
  }
  std::set<int> named = waiters_;
  named.insert(case_.state.culprits.begin(), case_.state.culprits.end());
  case_.guessed.push_back("the members of " + call_->group + ": the ranks that the log names");
  return sorted(named);
}

// A rank that gave up another call: it is in that one.
std::optional<CaseCall> LogCase::own_call(int rank) const {
  const auto at = job_.ranks.find(rank);
  if (smaller_) {
    CaseCall call = waited_call();
    call.count = *smaller_;
    return call;
  }
  if (at == job_.ranks.end() || !at->second.gave_up || case_.state.kind != "missing_call")
    return std::nullopt;
  CaseCall call{.group = 0, .op = at->second.gave_up->op, .open = true};
  call.count = at->second.gave_up->numel_in;
  call.seq = place();
  return call;
}

void LogCase::describe() {
  if (job_.world_is_guessed && !job_.ranks.empty())
    case_.guessed.push_back(
        fmt::format("{} ranks: one more than the highest that a message or a file names", case_.world_size));
  if (call_ && case_.state.hangs()) describe_call();
  if (job_.in_backward)
    case_.guessed.push_back("an exception that left backward() was in DDP's all_reduce of gradients");
  if (job_.ranks_of_several_calls() > 0)
    case_.questions.emplace_back(
        "ranks gave up several calls: the logs may have more than one hang; cut them to one, and try again");
  if (!case_.state.hangs()) return;
  case_.state.kind_is_guessed = true;
  const std::vector<int> group = members();
  case_.groups.push_back(
      {.name = call_ && !is_group_of_all(call_->group) ? call_->group : "world", .members = group});
  case_.state.group = case_.groups[0].name;
  if (call_) case_.guessed.emplace_back("the ranks made calls of the same kind before it");
  // A job of one group: ranks that a message does not name wait like the others.
  for (int r = 0; r < case_.world_size; ++r) case_.ranks.push_back(described(r, group));
  if (!unheard_.empty() && call_)
    case_.guessed.push_back(fmt::format("{} {} in the same call: no message names a call of {}",
                                        ranks_text(sorted(unheard_)), unheard_.size() == 1 ? "waits" : "wait",
                                        unheard_.size() == 1 ? "it" : "them"));
  case_.state.waiters = sorted(waiters_);
  if (case_.state.op.empty() && call_) case_.state.op = call_->op;
}

void LogCase::describe_call() {
  case_.known.insert(
      case_.known.begin(),
      fmt::format("{}: {} {} {}{}", place_text(*call_), ranks_text(sorted(waiters_)),
                  call_->kind != ClueKind::kStack ? "gave up"
                  : waiters_.size() == 1          ? "is in"
                                                  : "are in",
                  call_text(),
                  call_->limit_ms > 0 ? fmt::format(", whose limit is {} ms", call_->limit_ms) : ""));
  case_.limit_ms = call_->limit_ms;
  case_.state.op = call_->op;
  case_.state.seq = static_cast<uint64_t>(std::max<int64_t>(0, call_->seq));
}

CaseRank LogCase::described(int r, const std::vector<int>& group) {
  CaseRank rank{.rank = r};
  if (call_ && std::binary_search(group.begin(), group.end(), r)) add_calls_before(rank);
  const bool blamed = std::binary_search(case_.state.culprits.begin(), case_.state.culprits.end(), r);
  const bool member = std::binary_search(group.begin(), group.end(), r);
  if (blamed) {
    rank.state = ended_                             ? RankState::kEnded
                 : case_.state.kind == "init_stall" ? RankState::kNotStarted
                                                    : RankState::kElsewhere;
    if (ended_) rank.signal = std::max(0, ended_->signal), rank.code = ended_->code;
    if (std::optional<CaseCall> own = own_call(r)) rank.calls.push_back(*own);
  } else if (const auto at = job_.ranks.find(r);
             at != job_.ranks.end() && at->second.end && !at->second.gave_up) {
    rank.state = RankState::kEnded;
    rank.signal = std::max(0, at->second.end->signal), rank.code = at->second.end->code;
  } else if (call_ && member) {
    rank.state = RankState::kWaits;
    rank.calls.push_back(waited_call());
    if (waiters_.insert(r).second) unheard_.insert(r);
  }
  return rank;
}

}  // namespace rankfault
