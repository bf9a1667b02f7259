// Bystanders: programs that a rank executed (nvidia-smi, git, a loader of data), and that are no rank.
//
// They inherit the variable that names the rank, so each of them makes a record as a rank does: a
// *candidate*. Nobody can tell it from a rank by itself; a rank may well die before its first call. It is a
// bystander when another process made the same claim before it, and lived when it began: ranks are started
// by their launcher, bystanders by a rank or by the wrapper around one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/observe/timeline.h"

namespace rankfault {

struct Claim {  // that a process is a rank
  ProcessId process;
  int rank = -1, attempt = 0;
  std::string source;  // the variable that says so
  TimeNs opened = 0;
  bool took_part = false;  // it became a member, or made a call or a mark
  ProcessEnd end;
  bool operator==(const Claim&) const = default;
};

class Bystanders {
 public:
  void take(const Claim&);  // new, or changed
  void forget(const ProcessId&);

  bool is_one(const ProcessId&) const;
  // It ended, and whoever claimed the same before it lives, or took part: it says nothing of the rank.
  bool is_over(const ProcessId&) const;
  // Those of them whose records need not be kept. The last few that ended badly are kept while it may turn
  // out that one of them was to be the rank: then its wrapper ends, too.
  std::vector<ProcessId> forgettable() const;

 private:
  using Key = std::tuple<int, int, std::string>;  // attempt, rank, source
  static Key key_of(const Claim& c) { return {c.attempt, c.rank, c.source}; }
  const Claim* find(const ProcessId&) const;
  template <typename Is>
  bool has_elder(const Claim&, Is) const;
  bool is_over(const Claim&) const;

  std::map<Key, std::vector<Claim>> claims_;  // each in the order in which they began
  std::map<ProcessId, Key> keys_;
};

}  // namespace rankfault
