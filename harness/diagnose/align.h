// align: how one rank's sequence of calls came to differ from the others': a call left out, one too
// many, or one that was changed. Pure sequences; nothing here knows of communicators or processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankfault {

// A call as the alignment sees it. `bare`: what is called; `shape`: the same and from where.
struct Token {
  int shape = 0;
  int bare = 0;
  uint64_t step = 0;  // it belongs to; 0 where the program does not mark its steps
  int site = 0;       // where in the program; 0 unknown
  int op = 0;
  bool branch = false;  // made from a place of its own, where the others make it from theirs
};

struct Alignment {
  enum class Kind { kNone, kMissing, kExtra, kChanged } kind = Kind::kNone;
  size_t length = 0;  // how many calls
  size_t from = 0,
         to = 0;      // the first one lies at a position from..to (of the others when missing, else of mine)
  bool seen = false;  // calls after it were compared, not only predicted
  bool as_before = false;  // with it, what was done fits what was done in earlier rounds
};

// `mine_is_whole`: this rank makes no call any more, so that a shorter sequence is missing calls.
Alignment explain(const std::vector<Token>& mine, const std::vector<Token>& others, bool mine_is_whole);

}  // namespace rankfault
