// rank_rows: what each rank of the last attempt did last, for the tables of reports.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/judge/oracle_queries.h"
#include "reports/story.h"

namespace rankfault {
namespace {

const char* state_word(CallStatus status) {
  switch (status) {
    case CallStatus::kInside:
      return "inside";
    case CallStatus::kFailed:
      return "failed";
    case CallStatus::kPending:
      return "pending";
    case CallStatus::kReturned:
      break;
  }
  return "returned";
}

// With the place in the order of the communicator, where the library has one.
std::string call_words(const RecordedCall& call, const CommView* comm, const RunFacts& facts) {
  std::string text = op_text(call.op());
  if (comm) text += " on " + comm_name(comm, facts.timeline.world_size);
  return call.seq() ? text + fmt::format(", call {}", call.seq()) : text;
}

std::string line_of(const ProcessView& process, const RecordedCall& call) {
  const uint64_t where = call.open ? call.open->return_address : call.enter ? call.enter->where : 0;
  if (const auto line = process.source_lines.find(where); line != process.source_lines.end())
    return line->second;
  const auto site = process.call_sites.find(where);
  return site == process.call_sites.end() ? "" : site->second;
}

void take_last_call(const ProcessView& process, const RunFacts& facts, RankRow& row) {
  const CallHistory history(process, OpenCalls::kByStates);
  const std::vector<const RecordedCall*> calls = communication_calls(history);
  if (calls.empty()) return;
  const RecordedCall& last = *calls.back();
  row.call = call_words(last, process.comm(last.comm()), facts);
  row.state = state_word(last.status());
  row.where = line_of(process, last);
}

std::map<int, int64_t> last_steps(const RunFacts& facts, int attempt) {
  std::map<int, int64_t> steps;
  for (const Mark& mark : facts.marks)
    if (mark.attempt == attempt && (mark.what == "step_begin" || mark.what == "step_commit"))
      steps[mark.rank] = mark.number;
  return steps;
}

bool same_but_for_ranks(const RankRow& a, const RankRow& b) {
  return a.end == b.end && a.step == b.step && a.call == b.call && a.state == b.state && a.where == b.where;
}

}  // namespace

std::string comm_name(const CommView* comm, int world_size) {
  if (!comm) return "";
  if (!comm->name.empty()) return comm->name;
  const bool is_world = comm->size > 0 && static_cast<int>(comm->size) == world_size;
  return is_world ? "world" : fmt::format("size {}", comm->size);
}

std::vector<RankRow> rank_rows(const RunFacts& facts) {
  const int attempt = last_attempt(facts);
  const std::map<int, int64_t> steps = last_steps(facts, attempt);
  std::vector<RankRow> rows;
  for (int rank = 0; rank < facts.plan.scenario.workload.ranks; ++rank) {
    RankRow row;
    row.ranks = {rank};
    const RankEnd* end = end_of(facts, rank, attempt);
    const ProcessView* process = facts.timeline.rank(attempt, rank);
    row.end = end ? end_text(end) : process ? "ended by rankfault" : "not recorded";
    if (!end && process && !facts.ended) row.end = "not known";
    if (const auto step = steps.find(rank); step != steps.end()) row.step = std::to_string(step->second);
    if (process) take_last_call(*process, facts, row);
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const RankRow& r) { return same_but_for_ranks(r, row); });
    if (same == rows.end())
      rows.push_back(std::move(row));
    else
      same->ranks.push_back(rank);
  }
  return rows;
}

}  // namespace rankfault
