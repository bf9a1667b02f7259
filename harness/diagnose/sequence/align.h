// align: finds how one rank's sequence of calls differs from the others' sequence: a missing call, an extra
// call, or a changed call. It works on plain sequences and knows nothing of communicators or processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankfault {

// A call as the alignment sees it. `bare` identifies what is called; `shape` identifies what is called and
// from where.
struct Token {
  int shape = 0;
  int bare = 0;
  uint64_t step = 0;  // the step that the call belongs to; 0 if the program does not mark its steps
  int site = 0;       // place in the program; 0: unknown
  int op = 0;
  bool branch = false;  // this rank makes it from a branch of its own
};

struct Alignment {
  enum class Kind { kNone, kMissing, kExtra, kChanged } kind = Kind::kNone;
  size_t length = 0;  // number of calls
  size_t from = 0,
         to = 0;           // the first one is at from..to (in `others` if calls are missing, else in `mine`)
  bool seen = false;       // later calls were compared, not only predicted
  bool as_before = false;  // with this explanation, the calls fit those of earlier rounds
};

// `mine_is_whole`: this rank makes no more calls, so a shorter sequence has missing calls.
Alignment explain(const std::vector<Token>& mine, const std::vector<Token>& others, bool mine_is_whole);

}  // namespace rankfault
