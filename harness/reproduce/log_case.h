// log_case: a case that is made of logs: what the rules of from_clues.cc found, and how the case then
// describes it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/reproduce/case.h"
#include "harness/reproduce/heard.h"

namespace rankfault {

class LogCase {
 public:
  // `files`: ranks that have a log file of their own.
  LogCase(const std::vector<Clue>& clues, const std::set<int>& files);

 protected:
  // Names the culprits; the other ranks of `waiters_` wait for them.
  void blame(const char* kind, const std::set<int>& ranks, const std::string& text);
  // Ranks of which no message says that they waited.
  std::set<int> silent_ranks() const;
  bool has_passed(int rank) const;
  bool gave_up_another(int rank) const;
  std::string call_text() const;  // "all_reduce 7 on world"
  // Fills groups, ranks and calls of the case, and says what was guessed for them.
  void describe();

  const HeardJob job_;
  Case case_;
  std::set<int> waiters_;  // ranks in `call_`
  std::optional<Clue> call_, ended_;
  std::optional<int64_t> smaller_;  // elements of the culprit's call, if that is smaller

 private:
  void describe_call();
  CaseRank described(int rank, const std::vector<int>& group);
  std::vector<int> members();
  CaseCall waited_call() const;
  std::optional<CaseCall> own_call(int rank) const;
  void add_calls_before(CaseRank&) const;
  uint64_t place() const;

  std::set<int> unheard_;  // of `waiters_`, those that no message names
};

std::string place_text(const Clue&);  // "FILE:LINE"
inline std::vector<int> sorted(const std::set<int>& ranks) { return {ranks.begin(), ranks.end()}; }

}  // namespace rankfault
