// call_mismatch: at one position of a communicator the members make calls that differ, or a call cannot match
// any call: the rank sends itself something else than it takes from itself.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/group_dispute.h"
#include "harness/diagnose/sequence/pairing.h"

namespace rankfault {
namespace {

bool is_unequal(const Call* c) { return c && c->flags() & RF_CALL_UNEQUAL; }

// The first such call of the communicator; 0: none.
uint64_t first_unequal(const CommGroup& group) {
  uint64_t first = 0;
  for (const Member& m : group.members)
    for (const Call* c : m.calls)
      if (is_unequal(c) && (first == 0 || c->seq < first)) first = c->seq;
  return first;
}

// The call's own arguments show it; no other rank's call is compared.
Finding describe_unequal(const JobView& job, const CommGroup& group, uint64_t seq) {
  Finding f;
  f.kind = "call_mismatch";
  f.attempt = job.attempt();
  f.field = "receive";
  f.seq = SeqRange{seq, seq};
  set_comm(f, group);
  std::vector<MemberCall> member_calls;
  std::vector<WaitEdge> edges;
  for (const Member& m : group.members) {
    const Call* c = m.at(seq);
    if (!c) continue;
    member_calls.push_back({&m, c});
    if (!is_unequal(c)) continue;
    edges.push_back({&group, &m, c, &m, true, Known::kNo});
    f.ranks.push_back(m.world_rank);
    f.at = std::max(f.at, c->entered);
  }
  f.ranks = sorted_unique(std::move(f.ranks));
  f.sides = sides_of(member_calls, group);
  const WaitEdge& one = edges.front();
  f.op = op_text(one.call->op());
  f.call_site = call_site_of(*one.waiter->process, *one.call);
  f.text = fmt::format("{} {} in {} to itself another size or type than it receives from itself",
                       ranks_text(f.ranks), f.ranks.size() == 1 ? "sends" : "each send",
                       call_text(*one.call, group));
  f.evidence = {f.text};
  f.assumes = {one_look(edges, {})};
  const bool failed = std::any_of(edges.begin(), edges.end(),
                                  [](const WaitEdge& e) { return e.call->status == Call::Status::kFailed; });
  if (!f.assumes.front().holds || failed) return f;
  f.confidence = Confidence::kProven;
  f.claim = Claim::kNotTheSameCall;
  for (const WaitEdge& e : edges) claim(f, {{e.waiter, e.call}});
  return f;
}

// A call with another argument looks like the next part of the program, reached too early, if the others
// repeat a call there and none of them has made this one.
bool may_be_ahead(const Divergence& d, const Call& mine, const Call& theirs) {
  if (d.lone_root || d.alignment.kind != Alignment::Kind::kChanged || d.alignment.seen) return false;
  const Member& other = *d.majority.front();
  const Call* last = other.at(d.seq - 1);
  return last && difference(*last, theirs).empty() && last->op() == theirs.op() &&
         std::none_of(other.calls.begin(), other.calls.end(),
                      [&](const Call* c) { return c->op() == mine.op() && difference(*c, mine).empty(); });
}

// A call whose own arguments do not fit also differs from the calls of the others. The finding about its
// arguments blames the rank; a comparison could not tell which rank is wrong.
bool is_told_by_its_arguments(const Divergence& d) {
  return (d.field == "dtype" || d.field == "count") && first_unequal(*d.group) == d.seq;
}

std::string taken_type(const Call& c) {
  return c.tag() & RF_TAKEN_KNOWN ? dtype_text(static_cast<uint8_t>(c.tag() & RF_TAKEN_DTYPE))
                                  : "an unknown type";
}

std::string both_calls(const Call& mine, const Call& theirs, const CommGroup& group) {
  const std::string a = call_text(mine, group), b = call_text(theirs, group);
  if (a != b) return fmt::format("{} against {}", a, b);
  return fmt::format("{}, received as {} and as {}", a, taken_type(mine), taken_type(theirs));
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  if (std::optional<Finding> f = group_dispute(job, options)) found.push_back(std::move(*f));
  for (const CommGroup& group : job.comms())
    if (const uint64_t seq = first_unequal(group); seq != 0)
      found.push_back(describe_unequal(job, group, seq));
  for (const Divergence& d : divergences(job)) {
    if (!d.pairs_differ || is_told_by_its_arguments(d)) continue;
    Finding f = finding_about(job, d, "call_mismatch");
    f.field = d.field;
    f.seq = SeqRange{d.seq, d.seq};
    const Call& theirs = *d.majority.front()->at(d.seq);
    const Call& mine = *d.minority.front()->at(d.seq);
    f.op = op_text(d.lone_root ? mine.op() : theirs.op());
    f.call_site = call_site_of(*d.minority.front()->process, mine);
    f.text = fmt::format("ranks disagree in call {} on {}: {} differs ({})", d.seq, d.group->name, d.field,
                         both_calls(mine, theirs, *d.group));
    prove_pairing(f, d);
    if (may_be_ahead(d, mine, theirs))
      f.evidence.push_back(fmt::format(
          "either its argument is wrong, or {} left out calls before it: the others repeat {} there "
          "and have not made this call yet",
          ranks_text(world_ranks(d.minority)), op_text(theirs.op())));
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "call_mismatch",
    .summary = "ranks make different calls at the same position",
    .look = look,
    .proof = "The library pairs calls by position (or by tag), and the records show two different calls at "
             "one position, with nothing lost, refused or unseen before it.",
    .example = "rank 1 calls all_reduce float32 x 1000, the others x 1024: count differs",
    .next = "`field` names the argument that differs, `sides` has both lines. A different count is often an "
            "uneven batch; a different operation is often one call too many or too few before.",
    .traits = {.precedence = 60, .compares_calls = true},
}};

}  // namespace
}  // namespace rankfault
