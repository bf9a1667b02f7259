// trace: writes one run as a Chrome trace, for ui.perfetto.dev and chrome://tracing: a process for each rank,
// a thread for each lane, calls as slices, and the faults, the steps and the findings.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/mask.h"
#include "harness/base/rank_words.h"
#include "harness/judge/oracle_queries.h"
#include "reports/story.h"
#include "reports/trace/trace_calls.h"
#include "reports/words.h"

namespace rankfault {
namespace {

constexpr size_t kMostMarks = 50'000, kMostFindings = 100, kMostArrows = 2'000;
constexpr int kMarksRow = 1'000, kGatesRow = 1'001;  // behind the lanes of a process

class RunTrace {
 public:
  explicit RunTrace(const RunReport& report) : report_(report), facts_(*report.facts), writer_(facts_.begin) {
    for (const ProcessView& process : facts_.timeline.processes) pids_.push_back(new_pid(process.id.pid));
    own_pid_ = new_pid(1);
  }

  std::string text() {
    std::vector<size_t> calls;
    for (const ProcessView& process : facts_.timeline.processes)
      for (const auto& [lane, count] : calls_by_lane(process)) calls.push_back(count);
    CallTracer tracer(facts_, share_of_lanes(calls, kMostTraceCalls), writer_);
    for (size_t i = 0; i < facts_.timeline.processes.size(); ++i) process(i, tracer);
    marks();
    gates();
    ends();
    findings(tracer.of_findings());
    return writer_.take(masked(other_data(tracer)));
  }

 private:
  // The number that the kernel gave it. Another attempt may have had the same one.
  int new_pid(int pid) {
    while (!taken_.insert(pid).second) ++pid;
    return pid;
  }

  // Null: no process of that rank and attempt is on record.
  const int* pid_of(int rank, int attempt) const {
    const ProcessView* found = facts_.timeline.rank(attempt, rank);
    return found ? &pids_[static_cast<size_t>(found - facts_.timeline.processes.data())] : nullptr;
  }

  void process(size_t i, CallTracer& tracer) {
    const ProcessView& view = facts_.timeline.processes[i];
    std::string name = view.rank < 0 || view.helper ? fmt::format("process {}", view.id.pid)
                                                    : fmt::format("rank {}", view.rank);
    if (view.attempt > 0) name += fmt::format(", attempt {}", view.attempt);
    const int place = view.rank < 0 || view.helper ? kMostRanks : view.rank;
    writer_.name_process(pids_[i], name, 1 + place + (kMostRanks + 1) * view.attempt);
    tracer.write(view, pids_[i]);
  }

  // A row beside the lanes of a process; it gets its name when it is first used.
  TraceRow row(int pid, int tid, const char* name) {
    if (named_.emplace(pid, tid).second) writer_.name_thread({pid, tid}, name);
    return {pid, tid};
  }
  TraceRow gate_row(int pid) { return row(pid, kGatesRow, "gates and faults"); }

  void marks() {
    const size_t first = facts_.marks.size() > kMostMarks ? facts_.marks.size() - kMostMarks : 0;
    left_out_marks_ = first;
    for (size_t i = first; i < facts_.marks.size(); ++i) {
      const Mark& mark = facts_.marks[i];
      const int* pid = pid_of(mark.rank, mark.attempt);
      if (!pid) continue;
      Json args = {{"number", mark.number}};
      if (!mark.name.empty()) args["name"] = writer_.safe(mark.name);
      if (mark.what == "value") args["value"] = mark.value;
      writer_.instant(row(*pid, kMarksRow, "steps and marks"), fmt::format("{} {}", mark.what, mark.number),
                      "mark", mark.time, 't', std::move(args));
    }
  }

  // One slice for each wait at a gate. It ends when the fault is done, or when rankfault releases the rank.
  void gates() {
    for (const GateEvent& gate : facts_.gates) {
      const int* pid = pid_of(gate.rank, gate.attempt);
      if (!pid || !is_known(gate.asked)) continue;
      const TraceRow row = gate_row(*pid);
      const Instant end = std::max({gate.asked, gate.answered, gate.done});
      const std::string fault = writer_.safe(gate.fault);
      writer_.slice(row, "parked for " + fault, "gate", gate.asked, end,
                    {{"fault", fault}, {"answer", gate.answer}, {"effect", gate.effect}, {"op", gate.op}});
      if (is_known(gate.done))
        writer_.instant(row, "fault " + fault, "fault", gate.done, 'p', {{"effect", gate.effect}});
    }
    for (const auto& [fault, at] : facts_.fault_at)
      writer_.instant(gate_row(own_pid_), "effect of " + writer_.safe(fault), "fault", at, 'g',
                      Json::object());
  }

  void ends() {
    for (const RankEnd& end : facts_.ends)
      if (const int* pid = pid_of(end.rank, end.attempt); pid && is_known(end.time))
        writer_.instant(gate_row(*pid), end_text(&end), "end", end.time, 'p', Json::object());
    if (is_known(facts_.teardown))
      writer_.instant(gate_row(own_pid_), "rankfault ends the job", "end", facts_.teardown, 'g',
                      {{"reason", facts_.teardown_reason}});
  }

  Json args_of(const Finding& finding) {
    Json sides = Json::array();
    for (const Side& side : finding.sides) sides.push_back(writer_.safe(side_line(side)));
    return {{"finding", writer_.safe(finding_line(finding))},
            {"text", writer_.safe(finding.text)},
            {"sides", std::move(sides)},
            {"caused_by", finding.caused_by}};
  }

  // When the event happened, else when the finding was made.
  Instant began(const Finding& finding) const {
    const Instant made = first_line<events::Finding>(facts_.journal, [&](const events::Finding& line) {
                           return line.finding.value("kind", "") == finding.kind;
                         }).t;
    const Instant at = is_known(finding.at) ? finding.at : is_known(made) ? made : facts_.end;
    return std::clamp(at, facts_.begin, std::max(facts_.begin, facts_.end));
  }

  // Each has a row of its own: findings last until the end of the run.
  void findings(const std::vector<TracedCall>& calls) {
    writer_.name_process(own_pid_, "rankfault: " + outcome_line(report_), 0);
    std::vector<Instant> begins;
    const std::vector<Finding>& all = facts_.findings.all;
    for (size_t i = 0; i < all.size() && i < kMostFindings; ++i) {
      const Instant at = began(all[i]);
      begins.push_back(at);
      const TraceRow row{own_pid_, static_cast<int>(i) + 1};
      writer_.name_thread(row, fmt::format("finding {}", i));
      writer_.slice(row, all[i].kind, "finding", at, facts_.end, args_of(all[i]));
      if (names_trouble(all[i]))
        writer_.instant(row, writer_.safe(finding_line(all[i])), "finding", at, 'g', Json::object());
    }
    left_out_findings_ = all.size() - begins.size();
    size_t arrows = 0;
    for (const TracedCall& call : calls) {
      if (call.finding >= begins.size()) continue;
      if (++arrows > kMostArrows) continue;
      writer_.arrow({own_pid_, static_cast<int>(call.finding) + 1}, begins[call.finding], call.row,
                    call.entered, all[call.finding].kind);
    }
    left_out_arrows_ = arrows > kMostArrows ? arrows - kMostArrows : 0;
  }

  Json other_data(const CallTracer& tracer) const {
    uint64_t lost = 0;
    for (const ProcessView& view : facts_.timeline.processes) lost += view.history_lost;
    return {{"tool", "rankfault"},
            {"scenario", report_.scenario},
            {"file", report_.file},
            {"outcome", outcome_line(report_)},
            {"story", story_of(report_)},
            {"notice", notice_line(report_)},
            {"ranks", facts_.timeline.world_size},
            {"clock", "microseconds since the begin of the run"},
            {"journal_is_whole", facts_.ended && facts_.lost_lines == 0},
            {"left_out",
             {{"calls", tracer.left_out()},
              {"calls_without_begin", tracer.without_begin()},
              {"records_not_kept", lost},
              {"marks", left_out_marks_},
              {"findings", left_out_findings_},
              {"arrows", left_out_arrows_}}}};
  }

  const RunReport& report_;
  const RunFacts& facts_;
  TraceWriter writer_;
  std::vector<int> pids_;  // in the order of the processes
  std::set<int> taken_;
  std::set<std::pair<int, int>> named_;
  int own_pid_ = 0;
  size_t left_out_marks_ = 0, left_out_findings_ = 0, left_out_arrows_ = 0;
};

Result<std::string> write_trace(const std::vector<RunReport>& reports) {
  if (reports.size() != 1) return usage_error("a trace is of one run: name one run directory");
  if (!reports.front().facts)
    return usage_error(reports.front().compared
                           ? "a trace is of one run: name the directory of one variant, inside this one"
                           : "a run that did not start has no trace");
  return RunTrace(reports.front()).text();
}

const Registration<Report> kTrace{
    {.name = "trace",
     .summary = "One run as a Chrome trace, for ui.perfetto.dev and chrome://tracing.",
     .write = write_trace}};

}  // namespace
}  // namespace rankfault
