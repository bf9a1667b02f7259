// findings_log: findings over the looks of a run; see FindingsLog in finding.h.
#include <algorithm>

#include "harness/diagnose/rule.h"
#include "harness/journal/journal_line.h"

namespace rankfault {

bool Findings::only_handled() const {
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Finding& f) { return f.handled; });
}

namespace {

bool is_disagreement(const Finding& f) { return traits_of(f.kind).compares_calls; }

// The ranks that wait in each call distinguish two missing messages.
bool same_sides(const Finding& a, const Finding& b) {
  return std::equal(a.sides.begin(), a.sides.end(), b.sides.begin(), b.sides.end(),
                    [](const Side& x, const Side& y) { return x.ranks == y.ranks && x.what == y.what; });
}

// Whether two looks saw the same fault. In a disagreement, the odd rank is certain only when all members have
// come: a later look at the same call describes it better.
bool same_trouble(const Finding& a, const Finding& b) {
  if (is_disagreement(a) && a.kind == b.kind && a.attempt == b.attempt && a.comm_id == b.comm_id && a.seq &&
      b.seq && a.seq->to == b.seq->to)
    return true;
  if (is_disagreement(a) && !a.seq && !b.seq && !same_sides(a, b)) return false;
  return a.kind == b.kind && a.attempt == b.attempt && a.ranks == b.ranks && a.resource == b.resource &&
         (is_end(a) || a.comm_id == b.comm_id);
}

// Whether they say the same, ignoring evidence and times.
bool says_the_same(const Finding& a, const Finding& b) {
  const auto seq = [](const Finding& f) {
    return f.seq ? std::pair(f.seq->from, f.seq->to) : std::pair(0ul, 0ul);
  };
  return a.ranks == b.ranks && a.op == b.op && a.comm == b.comm && seq(a) == seq(b) && a.field == b.field &&
         a.confidence == b.confidence && a.claim == b.claim && a.text == b.text && a.handled == b.handled;
}

// A proven finding stays; a later look may only improve its text (a status that became known).
bool weaker(const Finding& a, const Finding& b) {
  return a.confidence == Confidence::kInferred && b.confidence == Confidence::kProven;
}

bool is_part_of(const Side& a, const Side& b) {
  return a.what == b.what && std::includes(b.ranks.begin(), b.ranks.end(), a.ranks.begin(), a.ranks.end());
}

// Two calls are proven to differ before enough members have come to show the odd one. The calls of the others
// may have failed at the last look, which then infers the same difference and names the rank. An earlier look
// must not name it: with one more member the other side may be the larger one.
bool names_the_odd_rank(const Finding& last, const Finding& proven) {
  return is_disagreement(proven) && proven.claim == Claim::kNotTheSameCall && weaker(last, proven) &&
         proven.ranks.empty() && !last.ranks.empty() && last.field == proven.field && !proven.sides.empty() &&
         std::all_of(proven.sides.begin(), proven.sides.end(), [&](const Side& side) {
           return std::any_of(last.sides.begin(), last.sides.end(),
                              [&](const Side& l) { return is_part_of(side, l); });
         });
}

// The claim, and the facts that prove it, stay those of the earlier look. The evidence says that the rank is
// inferred, and why.
Finding with_the_odd_rank(const Finding& proven, Finding last) {
  for (const Assumption& a : last.assumes)
    if (!a.holds) last.evidence.push_back("the difference is proven, the odd rank is inferred: " + a.why);
  last.confidence = proven.confidence;
  last.claim = proven.claim;
  last.claimed = proven.claimed;
  last.assumes = proven.assumes;
  return last;
}

// A call that returned, failed or is pending was not left by a jump.
bool was_left(const Finding& f, const Findings& look) {
  if (f.claim != Claim::kCannotReturn || f.handled || f.claimed.empty()) return false;
  return std::all_of(f.claimed.begin(), f.claimed.end(), [&](const ClaimedCall& c) {
    return std::any_of(look.left_by_jumps.begin(), look.left_by_jumps.end(), [&](const ClaimedCall& left) {
      return left.rank == c.rank && left.lane == c.lane && left.number == c.number;
    });
  });
}

Finding as_handled(Finding f) {
  f.handled = true;
  f.text += "; the program handled it: its ranks jumped out of these calls, and every rank exited with 0";
  return f;
}

void handle_those_that_were_left(std::vector<Finding>& news, const std::vector<Finding>& kept,
                                 const Findings& look) {
  for (const Finding& k : kept) {
    const bool is_news =
        std::any_of(news.begin(), news.end(), [&](const Finding& f) { return same_trouble(k, f); });
    if (!is_news && k.attempt == look.all.front().attempt && was_left(k, look)) news.push_back(k);
  }
  for (Finding& f : news)
    if (was_left(f, look)) f = as_handled(std::move(f));
}

// A process that fails may free its communicators before it ends. What an earlier look inferred of it then,
// or while others waited for it, is over once it has exited.
bool has_exited_instead(const Finding& kept, const Findings& look) {
  return !look.proven_only && std::any_of(look.all.begin(), look.all.end(), [&](const Finding& f) {
    return f.kind == "exited_rank" && f.attempt == kept.attempt && f.ranks == kept.ranks;
  });
}

std::string why_withdrawn(const Finding& f, const Findings& look) {
  for (const Finding& now : look.all)
    if (names_trouble(now) && std::any_of(f.ranks.begin(), f.ranks.end(), [&](int rank) {
          return std::find(now.ranks.begin(), now.ranks.end(), rank) != now.ranks.end();
        }))
      return "the record now shows " + now.kind + ": " + now.text;
  if (look.nothing_wrong()) return "the job continued, and its record shows nothing wrong";
  return "the last look no longer shows it";
}

}  // namespace

void FindingsLog::take(const Finding& f) {
  if (!names_trouble(f)) {
    quiet_.all = {f};
    return;
  }
  const auto at =
      std::find_if(kept_.begin(), kept_.end(), [&](const Finding& k) { return same_trouble(k, f); });
  if (f.withdrawn) {
    if (at != kept_.end()) kept_.erase(at);
  } else if (at != kept_.end()) {
    *at = f;
  } else {
    kept_.push_back(f);
  }
}

std::vector<Finding> FindingsLog::add(const Findings& look, bool last_look) {
  std::vector<Finding> added = news(look, last_look);
  for (const Finding& f : added) take(f);
  for (const Finding& f : look.unsafe) take_unsafe(f);
  for (const Finding& f : look.remarks) take_remark(f);
  if (last_look) take_strict_known(look.strict_known);
  return added;
}

// Every look says the same of an attempt that is over.
void FindingsLog::take_unsafe(const Finding& f) {
  std::erase_if(unsafe_, [&](const Finding& k) { return k.attempt == f.attempt; });
  unsafe_.push_back(f);
}

void FindingsLog::take_remark(const Finding& f) {
  std::erase_if(remarks_, [&](const Finding& k) { return k.attempt == f.attempt && k.comm_id == f.comm_id; });
  remarks_.push_back(f);
}

std::vector<Finding> FindingsLog::news(const Findings& look, bool last_look) const {
  std::vector<Finding> news;
  for (const Finding& f : look.all) {
    if (!names_trouble(f)) continue;
    const auto at =
        std::find_if(kept_.begin(), kept_.end(), [&](const Finding& k) { return same_trouble(k, f); });
    // The start of an end is known only from the ends of the others: the last look sets its time.
    const bool dated_anew = last_look && at != kept_.end() && is_end(f) && at->at != f.at &&
                            at->confidence == Confidence::kInferred;
    if (last_look && at != kept_.end() && names_the_odd_rank(f, *at)) {
      news.push_back(with_the_odd_rank(*at, f));
      continue;
    }
    if (at != kept_.end() && !dated_anew &&
        (says_the_same(*at, f) || (weaker(f, *at) && f.handled == at->handled)))
      continue;
    news.push_back(f);
    if (at == kept_.end() || !weaker(f, *at)) continue;
    news.back() = *at;  // the proven statement about the end stays
    news.back().text = f.text;
    news.back().handled = f.handled;
  }
  if (look.all.empty()) return news;
  if (last_look) handle_those_that_were_left(news, kept_, look);
  for (const Finding& k : kept_) {
    const bool still =
        std::any_of(look.all.begin(), look.all.end(), [&](const Finding& f) { return same_trouble(k, f); });
    if (still || k.confidence == Confidence::kProven || k.attempt != look.all.front().attempt) continue;
    if (!last_look && !has_exited_instead(k, look)) continue;
    news.push_back(k);
    news.back().withdrawn = true;
    news.back().withdrawn_because = why_withdrawn(k, look);
  }
  if (last_look && !names_trouble(look.all.front())) news.push_back(look.all.front());
  return news;
}

Findings FindingsLog::result() const {
  Findings result{kept_, unsafe_, remarks_, strict_known_};
  order_by_cause(result.all);
  if (result.all.empty()) result.all = quiet_.all;
  if (!result.all.empty()) return result;
  Finding f;
  f.kind = "cannot_say";
  f.text = "rankfault never looked at the job";
  result.all = {f};
  return result;
}

Findings findings_from_journal(const std::vector<JournalLine>& lines) {
  FindingsLog log;
  const auto take = [&](const events::FindingLine* line, void (FindingsLog::*as)(const Finding&)) {
    if (!line) return;
    if (const auto finding = finding_from_json(line->finding)) (log.*as)(*finding);
  };
  for (const JournalLine& line : lines) {
    if (const auto* look = line.as<events::Look>(); look && look->last)
      log.take_strict_known(look->strict_known);
    take(line.as<events::Finding>(), &FindingsLog::take);
    take(line.as<events::Unsafe>(), &FindingsLog::take_unsafe);
    take(line.as<events::Remark>(), &FindingsLog::take_remark);
  }
  return log.result();
}

}  // namespace rankfault
