// stuck_outside: a rank that others wait for has long been asleep outside communication: in a file,
// a lock, a pipe. Inferred: it may wake.
#include <fmt/format.h>

#include "harness/diagnose/late.h"
#include "harness/diagnose/rule.h"
#include "harness/diagnose/words.h"

namespace rankfault {
namespace {

std::vector<Finding> look(const JobView& job, const DiagnoseOptions& options) {
  std::vector<Finding> found;
  for (const Late& late : late_ranks(job, stuck_after(options.slow_after))) {
    if (!late.sleeping) continue;
    Finding f;
    f.kind = "stuck_outside";
    f.ranks = {late.process->rank()};
    tell_waiters(f, job, late.edges);
    f.at = late.edges.front().call->entered;
    f.text = fmt::format("rank {} sleeps outside communication while others wait for it in {} {} on {}",
                         late.process->rank(), f.op, f.seq->from, f.comm);
    found.push_back(std::move(f));
  }
  return found;
}

const Registration<Rule> kRule{
    {"stuck_outside", "a rank sleeps outside communication while others wait", look}};

}  // namespace
}  // namespace rankfault
