// unsafe: a job finished because the library buffered a message or let a rank leave a collective early. Under
// the strictest semantics that MPI allows, its own calls would wait for each other (strict_replay.h).
#include <fmt/format.h>

#include "harness/diagnose/messages/strict_replay.h"
#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

std::string needed_text(const StrictWait& w) {
  return fmt::format("{} of rank {}", short_call(*w.needed, *w.group), w.partner->world_rank);
}

std::string wait_text(const StrictWait& w) {
  const std::string call = call_text(*w.because, *w.group);
  return fmt::format("rank {} would wait in {} for {}", w.waiter->world_rank,
                     w.in == w.because ? call : fmt::format("the wait for {}", call), needed_text(w));
}

Side side_of(const StrictWait& w) {
  return {{w.waiter->world_rank},
          op_text(w.in->op()),
          call_text(*w.because, *w.group),
          call_site_of(*w.waiter->process, *w.in)};
}

// The finding blames no rank: the program decides which of them should use another order.
std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  const std::optional<std::vector<StrictWait>>& cycle = job.strict_cycle();
  if (!cycle || cycle->empty()) return {};
  const StrictWait& first = cycle->front();
  Finding f;
  f.kind = "unsafe";
  f.confidence = Confidence::kStrict;
  f.attempt = job.attempt();
  f.at = first.in->entered;
  f.op = op_text(first.because->op());
  f.call_site = call_site_of(*first.waiter->process, *first.in);
  set_comm(f, *first.group);
  set_seq(f, *first.because);
  for (const StrictWait& w : *cycle) {
    f.sides.push_back(side_of(w));
    f.evidence.push_back(wait_text(w));
    f.text += (f.text.empty() ? "" : "; ") + wait_text(w);
  }
  f.text =
      "the job finished because the library buffered a message or let a rank leave a collective early; "
      "otherwise " +
      f.text;
  return {std::move(f)};
}

const Registration<Rule> kRule{{
    .name = "unsafe",
    .summary = "the job finished, but could hang with a library that buffers less",
    .look = look,
    .proof = "Never proven: it did not happen. The record of the finished job is replayed: sends wait for "
             "their receives, collectives for all members. It does not change the exit status; `watch "
             "--unsafe-is-an-error` does.",
    .example = "rank 0 sends to rank 1 and rank 1 sends to rank 0 before either receives",
    .next = "Use MPI_Sendrecv or nonblocking calls, so that the program does not depend on buffers (MPI 4.1, "
            "3.5).",
}};

}  // namespace
}  // namespace rankfault
