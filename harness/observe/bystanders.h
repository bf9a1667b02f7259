// Bystanders: programs that a rank executed (nvidia-smi, git, a data loader) and that are not ranks.
//
// They inherit the variable that names the rank, so each of them makes a record as a rank does: a
// *candidate*. A candidate's own record does not distinguish it from a rank, because a rank may die before
// its first call. A candidate is a bystander when another process made the same claim before it and was alive
// when the candidate began. Launchers start ranks; a rank, or the wrapper around one, starts bystanders.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

struct RankClaim {  // of a process to be a rank
  ProcessId process;
  int rank = -1, attempt = 0;
  std::string source;  // the variable that names the rank
  Instant opened;
  bool took_part = false;  // it became a member, or made a call or a mark
  ProcessEnd end;
  bool operator==(const RankClaim&) const = default;
};

class Bystanders {
 public:
  void take(const RankClaim&);  // a new or changed claim
  void forget(const ProcessId&);

  bool is_one(const ProcessId&) const;
  // True when it ended and the process that made the same claim earlier lives or took part: then it says
  // nothing about the rank.
  bool is_over(const ProcessId&) const;
  // The bystanders whose records need not be kept. The last few that ended badly are kept while one of them
  // may still prove to be the process that was to become the rank; in that case its wrapper ends too.
  std::vector<ProcessId> forgettable() const;

 private:
  using Key = std::tuple<int, int, std::string>;  // attempt, rank, source
  static Key key_of(const RankClaim& c) { return {c.attempt, c.rank, c.source}; }
  const RankClaim* find(const ProcessId&) const;
  template <typename Is>
  bool has_elder(const RankClaim&, Is) const;
  bool is_over(const RankClaim&) const;

  std::map<Key, std::vector<RankClaim>> claims_;  // the claims of each key, in the order in which the
                                                  // processes began
  std::map<ProcessId, Key> keys_;
};

}  // namespace rankfault
