#include "harness/facts/journal_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

namespace rankfault {
namespace {

bool same_process(const ProcessId& a, const ProcessId& b) {  // a gate slot has no host
  return a.pid == b.pid && a.start == b.start && a.image == b.image;
}

EndSource source_from_text(const std::string& word) {
  if (word == "waited") return EndSource::kWaited;
  if (word == "kernel") return EndSource::kKernel;
  if (word == "own_record") return EndSource::kOwnRecord;
  if (word == "our_signal") return EndSource::kOurSignal;
  if (word == "launcher") return EndSource::kLauncher;
  return EndSource::kUnknown;
}

ExitStatus status_from(const events::RankEnd& line) {
  ExitStatus status;
  if (line.kind == "exit") status.kind = ExitStatus::Kind::kCode;
  if (line.kind == "signal") status.kind = ExitStatus::Kind::kSignal;
  if (status.kind != ExitStatus::Kind::kUnknown) status.value = line.value;
  return status;
}

// One line of the journal after the other. A kind of line that no fact needs is passed over.
class Folder {
 public:
  explicit Folder(RunFacts& facts) : facts_(facts) {}

  void line(const JournalLine& line) {
    n_ = line.n;
    t_ = facts_.end = line.t;
    std::visit([&](const auto& event) { take(event); }, line.event);
  }

 private:
  template <typename E>
  void take(const E&) {}

  void take(const events::RunBegin& run) {
    facts_.begin = t_;
    facts_.cuda_double = run.cuda_double;
  }

  void take(const events::RunEnd&) { facts_.ended = true; }

  void take(const events::Cleanup& cleanup) { facts_.left_behind = cleanup.left; }

  void take(const events::NotComputed& one) {
    if (!facts_.not_computed.empty()) facts_.not_computed += ", ";
    facts_.not_computed += fmt::format("{} of process {}", one.kernels, one.pid);
  }

  void take(const events::NoRank& none) {
    facts_.no_rank.push_back({none.attempt, none.launcher, none.status, none.log, none.last});
  }

  void take(const events::RankEnd& line) {
    RankEnd end;
    end.process = line.process.value_or(ProcessId{});
    end.rank = line.rank;
    end.attempt = line.attempt;
    end.time = is_known(line.time) ? line.time : t_;
    end.status = status_from(line);
    end.source = source_from_text(line.source);
    for (RankEnd& known : facts_.ends)
      if (known.process == end.process && known.attempt == end.attempt && known.rank == end.rank) {
        known.status = end.status;
        known.source = end.source;
        return;
      }
    facts_.ends.push_back(end);
  }

  // Returns the newest firing of this action by this process, or by any process if the line names none.
  GateEvent* open_gate(const events::FaultLine& line) {
    for (auto it = facts_.gates.rbegin(); it != facts_.gates.rend(); ++it)
      if (it->action == line.action && (!line.process || same_process(it->process, *line.process)))
        return &*it;
    return nullptr;
  }

  // Returns a firing of this action that was answered and is not done. The harness may read the end of one
  // firing only after the process has asked for the next.
  GateEvent* undone_gate(const events::FaultLine& line) {
    const ProcessId process = line.process.value_or(ProcessId{});
    for (GateEvent& gate : facts_.gates)
      if (gate.action == line.action && same_process(gate.process, process) && is_known(gate.answered) &&
          gate.answer != "no_go" && !is_known(gate.done))
        return &gate;
    return nullptr;
  }

  GateEvent& new_gate(const events::FaultLine& line) {
    GateEvent gate;
    gate.action = line.action;
    gate.fault = line.fault;
    gate.rank = line.rank.value_or(-1);
    gate.attempt = line.attempt.value_or(0);
    gate.process = line.process.value_or(ProcessId{});
    facts_.gates.push_back(std::move(gate));
    return facts_.gates.back();
  }

  GateEvent& gate_of(const events::FaultLine& line, GateEvent* known) {
    GateEvent& gate = known ? *known : new_gate(line);
    gate.lines.push_back(n_);
    return gate;
  }

  void take(const events::FaultAsked& line) {
    GateEvent& gate = gate_of(line, nullptr);
    gate.op = line.op;
    gate.comm_id = line.comm_id;
    gate.seq = line.seq;
    gate.count = line.count;
    gate.step = line.step;
    gate.path = line.path.value_or("");
    gate.group = line.group;
    gate.asked = line.asked_ns.value_or(t_);
  }

  void take(const events::FaultIntent& line) {
    GateEvent* known = open_gate(line);
    gate_of(line, known && is_known(known->done) ? nullptr : known);  // after its end: a new firing
  }

  void take(const events::FaultAnswered& line) {
    GateEvent& gate = gate_of(line, open_gate(line));
    gate.answered = t_;
    gate.answer = line.answer;
  }

  void take(const events::FaultDone& line) {
    GateEvent* undone = undone_gate(line);
    GateEvent& gate = gate_of(line, undone ? undone : open_gate(line));
    if (line.op) gate.op = *line.op;
    gate.comm_id = line.comm_id.value_or(gate.comm_id);
    gate.seq = line.seq.value_or(gate.seq);
    gate.parked = line.parked_ns.value_or(gate.parked);
    gate.done = line.time.value_or(t_);
    gate.effect = line.effect;
    gate.why = line.why.value_or("");
  }

  void take(const events::FaultEffect& line) { gate_of(line, open_gate(line)); }

  void take(const events::LogMarker& line) {
    Mark mark;
    mark.rank = line.rank;
    mark.attempt = line.attempt;
    mark.what = line.marker;
    int64_t& step = log_step_[{mark.rank, mark.attempt}];
    if (mark.what == "step_begin" || mark.what == "step_commit") {
      mark.number = step = std::strtoll(line.text.c_str(), nullptr, 10);
    } else {
      mark.number = step;
      mark.name = mark.what == "value" ? "log" : line.text;
      if (mark.what == "value") mark.value = std::bit_cast<uint64_t>(std::strtod(line.text.c_str(), nullptr));
      if (mark.what == "error") mark.what = "error_mark";
    }
    facts_.marks.push_back(std::move(mark));
  }

  void take(const events::Starved& line) {
    facts_.starved = true;
    if (!facts_.starved_why.empty()) return;
    facts_.starved_why = fmt::format("rankfault's own timer was {} late", to_text(line.late_ns));
  }

  void take(const events::Teardown& line) {
    if (line.reason == "over") return;
    facts_.teardown = t_;
    facts_.teardown_reason = line.reason;
  }

  RunFacts& facts_;
  uint64_t n_ = 0;  // of the line that is taken
  Instant t_;
  std::map<std::pair<int, int>, int64_t> log_step_;
};

}  // namespace

bool failed(const NoRank& none) { return !none.status.empty() && none.status != "exit 0"; }

std::string no_rank_line(const NoRank& none) {
  return none.status.empty()
             ? fmt::format("{} was ended and no rank of it was recorded", none.launcher)
             : fmt::format("{} ended with {} and no rank of it was recorded", none.launcher, none.status);
}

std::string reference_named(const JournalLines& journal) {
  const auto begin = lines_of<events::RunBegin>(journal);
  return begin.empty() ? "" : begin.front()->reference_run;
}

uint64_t lost_lines(const JournalLines& journal) {
  const uint64_t last = journal.empty() ? 0 : journal.back().n;
  return last > journal.size() ? last - journal.size() : 0;
}

void fold_journal(RunFacts& facts) {
  Folder folder(facts);
  facts.lost_lines = lost_lines(facts.journal);
  for (const JournalLine& line : facts.journal) folder.line(line);
  facts.findings = findings_from_journal(facts.journal);
}

}  // namespace rankfault
