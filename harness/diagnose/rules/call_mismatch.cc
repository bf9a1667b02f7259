// call_mismatch: at one position of a communicator the members make calls that are not the same call.
#include <fmt/format.h>

#include "harness/diagnose/pairing.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  for (const Divergence& d : divergences(job)) {
    if (!d.pairs_differ) continue;
    Finding f = finding_about(job, d, "call_mismatch");
    f.field = d.field;
    f.seq = SeqRange{d.seq, d.seq};
    const Call& theirs = *d.majority.front()->at(d.seq);
    const Call& mine = *d.minority.front()->at(d.seq);
    f.op = op_text(d.lone_root ? mine.op() : theirs.op());
    f.call_site = call_site_of(*d.minority.front()->process, mine);
    f.text = fmt::format("call {} on {} is not the same call on all ranks: {} differs ({} against {})", d.seq,
                         d.group->name, d.field, call_text(mine, *d.group), call_text(theirs, *d.group));
    prove_pairing(f, d);
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{"call_mismatch", "ranks make different calls at the same position", look}};

}  // namespace
}  // namespace rankfault
