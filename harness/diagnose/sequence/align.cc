#include "harness/diagnose/sequence/align.h"

#include <algorithm>

namespace rankfault {
namespace {

using Sequence = std::vector<Token>;
constexpr size_t kMostCalls = 64;  // longest run of missing or extra calls that is tried
constexpr size_t kMostPredicted = 16;

bool same(const Token& a, const Token& b) { return a.shape == b.shape && a.step == b.step; }

size_t common_prefix(const Sequence& a, const Sequence& b) {
  size_t p = 0;
  while (p < a.size() && p < b.size() && same(a[p], b[p])) ++p;
  return p;
}

// Predicts how a sequence continues, if it repeats what followed the same calls before: loops are the rule in
// these programs. Empty if the last call is new.
Sequence predicted(const Sequence& s) {
  for (size_t context = std::min<size_t>(3, s.size()); context > 0; --context)
    for (size_t end = s.size() - 1; end >= context; --end) {  // candidate ends before `end`
      bool same = true;
      for (size_t i = 0; same && i < context; ++i) same = s[end - 1 - i].shape == s[s.size() - 1 - i].shape;
      if (!same) continue;
      const size_t stop = std::min(s.size(), end + kMostPredicted);
      return Sequence(s.begin() + static_cast<std::ptrdiff_t>(end),
                      s.begin() + static_cast<std::ptrdiff_t>(stop));
    }
  return {};
}

bool knows(const Sequence& s, int shape) {
  return std::any_of(s.begin(), s.end(), [&](const Token& t) { return t.shape == shape; });
}

struct Shift {
  bool fits = false;
  size_t from = 0;
  bool seen = false;       // compared with recorded calls beyond the prefix
  bool supported = false;  // compared with recorded or predicted calls
};

// Whether `shorter` is `longer` without `m` calls that begin at a position of at most `prefix`.
Shift shift(const Sequence& shorter, const Sequence& longer, const Sequence& next, size_t prefix, size_t m) {
  Shift result;
  for (size_t i = shorter.size(); i-- > 0;) {
    const size_t j = i + m;
    bool equal = true;
    if (j < longer.size()) {
      equal = same(shorter[i], longer[j]);
      if (equal && i >= prefix) result.seen = result.supported = true;
    } else if (j - longer.size() < next.size()) {
      // A call that the others never made is the program's next phase: no loop predicts it.
      const bool as_predicted = shorter[i].shape == next[j - longer.size()].shape;
      equal = as_predicted || !knows(longer, shorter[i].shape);
      if (as_predicted && i >= prefix) result.supported = true;
    }
    if (equal) continue;
    result.from = i + 1;
    break;
  }
  result.fits = result.from <= prefix;
  return result;
}

bool same_after(const Sequence& a, const Sequence& b, size_t from, bool& compared) {
  for (size_t i = from; i < a.size() && i < b.size(); ++i) {
    if (!same(a[i], b[i])) return false;
    compared = true;
  }
  return true;
}

// A call made from another place is not this call with another argument.
bool other_place(const Token& a, const Token& b) { return a.site != 0 && b.site != 0 && a.site != b.site; }

bool ever_follows(const Sequence& s, int first, int second) {
  for (size_t i = 1; i < s.size(); ++i)
    if (s[i - 1].shape == first && s[i].shape == second) return true;
  return false;
}

// Whether the others ever make the call at mine[p] directly after the call before it. If not, a missing call
// between the two is a simpler explanation than an extra call.
bool natural_here(const Sequence& mine, const Sequence& others, size_t p) {
  if (p == 0) return knows(others, mine[p].shape);
  return ever_follows(others, mine[p - 1].shape, mine[p].shape);
}

// `mine` ends and `others` continue.
Alignment cut_short(const Sequence& mine, const Sequence& others) {
  const size_t m = others.size() - mine.size();
  const Shift s = shift(mine, others, {}, mine.size(), m);
  return {Alignment::Kind::kMissing, m, s.fits ? s.from : mine.size(), mine.size(), true};
}

// The others' call at p, or an equal one right before it, is missing.
Alignment one_left_out(const Sequence& mine, const Sequence& others, size_t p, bool as_before) {
  const Sequence before(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(p));
  return {Alignment::Kind::kMissing, 1, shift(before, others, {}, p, 1).from, p, false, as_before};
}

// The last call of `mine` comes from a place where the others never called. If it is another operation, it is
// probably the program's next phase, which the others have not reached: `mine` is one call ahead. If it is
// the same operation, it is probably an extra call, unless `mine` is whole and not longer than `others`.
Alignment unheard_of(const Sequence& mine, const Sequence& others, size_t p, bool mine_is_whole) {
  if (mine[p].op != others[p].op) return one_left_out(mine, others, p, false);
  const bool no_longer = mine_is_whole && mine.size() <= others.size();
  return {no_longer ? Alignment::Kind::kChanged : Alignment::Kind::kExtra, 1, p, p, false};
}

// Neither side ever makes the call that the other makes at p: two branches of the program meet at one place.
bool two_branches(const Sequence& mine, const Sequence& others, size_t p) {
  return p < mine.size() && p < others.size() && !knows(others, mine[p].shape) &&
         !knows(mine, others[p].shape);
}

// `mine` repeats its previous call, from its own branch and from a place that the others never used, and then
// continues like the others: it made twice what they made once.
bool twice_in_own_branch(const Sequence& mine, const Sequence& others, size_t p) {
  if (p == 0 || p >= mine.size() || p >= others.size()) return false;
  for (size_t i = p; i + 1 < mine.size() && i < others.size(); ++i)
    if (!same(mine[i + 1], others[i])) return false;
  return mine[p].bare == mine[p - 1].bare && mine[p - 1].branch && !knows(others, mine[p].shape) &&
         mine[p].bare != others[p].bare;
}

// For programs in which each role makes the common calls from its own branch: equal calls of two branches
// count as one call. Returns `mine` with the places of the others.
Sequence in_their_places(Sequence mine, const Sequence& others) {
  for (size_t p = common_prefix(mine, others); two_branches(mine, others, p);
       p = common_prefix(mine, others)) {
    if (mine[p].bare != others[p].bare || mine[p].step != others[p].step) break;
    const Token from = mine[p], to = others[p];
    for (Token& t : mine)
      if (t.shape == from.shape) t.shape = to.shape, t.site = to.site, t.branch = true;
  }
  return mine;
}

Sequence without_places(Sequence s) {
  for (Token& t : s) t.shape = t.bare, t.site = 0;
  return s;
}

// `mine` is whole, has as many calls as `others`, and the rest is equal: its call replaces theirs.
bool replaced(const Sequence& mine, const Sequence& others, size_t p, bool mine_is_whole) {
  bool compared = false;
  return mine_is_whole && mine.size() == others.size() && mine[p].op == others[p].op &&
         !knows(others, mine[p].shape) && same_after(mine, others, p + 1, compared);
}

}  // namespace

namespace {

Alignment explain_placed(const Sequence& mine, const Sequence& others, bool mine_is_whole) {
  const size_t p = common_prefix(mine, others);
  if (p == mine.size()) {
    if (p == others.size() || !mine_is_whole) return {};
    return cut_short(mine, others);
  }
  if (p == others.size()) return {};  // the others are behind; nothing to report yet
  if (replaced(mine, others, p, mine_is_whole)) return {Alignment::Kind::kChanged, 1, p, p, true};
  bool changed_seen = false;
  const bool changed = !other_place(mine[p], others[p]) && same_after(mine, others, p + 1, changed_seen);
  const Sequence next = predicted(others);
  Alignment guess;
  for (size_t m = 1; m <= kMostCalls && !(changed && changed_seen); ++m) {
    const Shift missing = shift(mine, others, next, p, m);
    if (missing.fits && missing.supported && (missing.seen || guess.kind == Alignment::Kind::kNone))
      guess = {Alignment::Kind::kMissing, m, missing.from, p, missing.seen, true};
    if (guess.seen) break;
    const Shift extra = shift(others, mine, {}, p, m);
    if (extra.fits && extra.seen) {
      if (!natural_here(mine, others, p)) break;
      guess = {Alignment::Kind::kExtra, m, extra.from, p, true};
      break;
    }
  }
  if (guess.kind != Alignment::Kind::kNone) return guess;
  if (!natural_here(mine, others, p) && ever_follows(others, others[p].shape, mine[p].shape))
    return one_left_out(mine, others, p, true);
  // Before the first common call nothing is known about places.
  if (p > 0 && other_place(mine[p], others[p]) && !knows(others, mine[p].shape))
    return unheard_of(mine, others, p, mine_is_whole);
  return {Alignment::Kind::kChanged, 1, p, p, changed_seen};
}

}  // namespace

// If the program splits into two branches, places do not show which call is missing. The calls themselves do,
// with less certainty. A call that one side never made in any round is changed, not missing.
Alignment explain(const Sequence& mine_as_made, const Sequence& others_as_made, bool mine_is_whole) {
  const Sequence moved = in_their_places(mine_as_made, others_as_made);
  size_t p = common_prefix(moved, others_as_made);
  if (twice_in_own_branch(moved, others_as_made, p)) return {Alignment::Kind::kExtra, 1, p, p, false};
  if (!two_branches(moved, others_as_made, p) || moved[p].op != others_as_made[p].op)
    return explain_placed(moved, others_as_made, mine_is_whole);
  const Sequence mine = without_places(moved), others = without_places(others_as_made);
  Alignment a = explain_placed(mine, others, mine_is_whole);
  p = common_prefix(mine, others);
  if (a.kind == Alignment::Kind::kNone || a.kind == Alignment::Kind::kChanged) return a;
  const bool of_the_loop = a.kind == Alignment::Kind::kMissing
                               ? p < others.size() && knows(mine, others[p].shape)
                               : p < mine.size() && knows(others, mine[p].shape);
  if (!of_the_loop) return {Alignment::Kind::kChanged, 1, p, p, false};
  a.seen = false;
  return a;
}

}  // namespace rankfault
