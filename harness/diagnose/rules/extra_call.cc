// extra_call: some ranks made a call that the others never make.
#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/proof/proof.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/sequence/pairing.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  std::vector<Finding> found;
  for (Divergence d : divergences(job)) {
    if (d.lone_root) continue;
    // A few ranks wait in a call that the majority, which has finished, never made.
    const bool outvoted = !d.pairs_differ && d.minority.size() > d.majority.size();
    if (!outvoted && d.alignment.kind != Alignment::Kind::kExtra) continue;
    const std::vector<const Member*> came = outvoted ? d.majority : d.minority;
    const std::vector<const Member*> others = outvoted ? d.minority : d.majority;
    d.tie = false;
    Finding f = finding_about(job, d, "extra_call");
    f.ranks = d.group->size > 2 && came.size() < others.size() ? world_ranks(came) : std::vector<int>{};
    if (outvoted) d.from = d.to = d.seq, d.named = came.front()->at(d.seq);
    name_call(f, d, came);
    if (!outvoted || !prove_waiting(f, d, came, others)) prove_pairing(f, d);
    if (!outvoted && !d.alignment.seen) {
      only_infer(f);
    }
    const std::string who = ranks_text(world_ranks(came));
    const std::string call = fmt::format("{} {} on {}", f.op, f.seq->from, d.group->name);
    f.text = f.ranks.empty() ? fmt::format("either {} left out {}, or {} made one too many",
                                           ranks_text(world_ranks(others)), call, who)
                             : fmt::format("{} made {}, and the others did not", who, call);
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{{
    .name = "extra_call",
    .summary = "some ranks made a call that the others never make",
    .look = look,
    .proof = "Every other member has ended, finished or destroyed the communicator, and their records have "
             "no such call.",
    .example = "rank 0 made all_reduce 7 on world, which ranks 1 2 3 never make",
    .next = "Look at the line of the extra call: a loop that runs once more on one rank, or a call in a "
            "branch that the others do not take.",
    .traits = {.precedence = 40, .compares_calls = true},
}};

}  // namespace
}  // namespace rankfault
