// journal_facts: see journal_facts.h.
#include "harness/facts/journal_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

namespace rankfault {
namespace {

std::string text_at(const Json& line, const char* key) {
  const auto it = line.find(key);
  return it != line.end() && it->is_string() ? it->get<std::string>() : "";
}

template <typename T>
T number_at(const Json& line, const char* key, T otherwise) {
  const auto it = line.find(key);
  return it != line.end() && it->is_number() ? it->get<T>() : otherwise;
}

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

ExitStatus status_from(const Json& line) {
  const std::string kind = text_at(line, "kind");
  ExitStatus status;
  if (kind == "exit") status.kind = ExitStatus::Kind::kCode;
  if (kind == "signal") status.kind = ExitStatus::Kind::kSignal;
  if (status.kind != ExitStatus::Kind::kUnknown) status.value = number_at(line, "value", 0);
  return status;
}

class Folder {
 public:
  explicit Folder(RunFacts& facts) : facts_(facts) {}

  void line(const Json& line) {
    const std::string ev = text_at(line, "ev");
    if (ev == "run_begin") run_begin(line);
    if (ev == "not_computed") not_computed(line);
    if (ev == "no_rank") no_rank(line);
    if (ev == "rank_end") rank_end(line);
    if (ev.rfind("fault_", 0) == 0) fault_line(ev, line);
    if (ev == "log_marker") log_marker(line);
    if (ev == "starved") starved(line);
    if (ev == "teardown") teardown(line);
    if (ev == "run_end") facts_.ended = true;
    if (ev == "cleanup") facts_.left_behind = line.value("left", std::vector<std::string>{});
    if (ev == "leftover") facts_.leftovers.push_back(line);
    facts_.end = number_at<TimeNs>(line, "t", facts_.end);
  }

 private:
  void run_begin(const Json& line) {
    facts_.begin = number_at<TimeNs>(line, "t", 0);
    facts_.cuda_double = text_at(line, "cuda_double");
  }

  void not_computed(const Json& line) {
    if (!facts_.not_computed.empty()) facts_.not_computed += ", ";
    facts_.not_computed +=
        fmt::format("{} of process {}", number_at<uint64_t>(line, "kernels", 0), number_at(line, "pid", 0));
  }

  void no_rank(const Json& line) {
    NoRank none{number_at(line, "attempt", 0),
                text_at(line, "launcher"),
                text_at(line, "status"),
                text_at(line, "log"),
                {}};
    for (const Json& last : line.value("last", Json::array()))
      if (last.is_string()) none.last.push_back(last);
    facts_.no_rank.push_back(std::move(none));
  }

  void rank_end(const Json& line) {
    RankEnd end;
    end.process = process_of(line);
    end.rank = number_at(line, "rank", -1);
    end.attempt = number_at(line, "attempt", 0);
    end.time = number_at<TimeNs>(line, "time", number_at<TimeNs>(line, "t", 0));
    end.status = status_from(line);
    end.source = source_from_text(text_at(line, "source"));
    for (RankEnd& known : facts_.ends)
      if (known.process == end.process && known.attempt == end.attempt && known.rank == end.rank) {
        known.status = end.status;
        known.source = end.source;
        return;
      }
    facts_.ends.push_back(end);
  }

  static ProcessId process_of(const Json& line) {
    if (const auto id = process_from_stem(text_at(line, "process"))) return *id;
    ProcessId id;
    id.pid = number_at(line, "pid", 0);
    id.start = number_at<uint64_t>(line, "start", 0);
    return id;
  }

  // Returns the newest firing of this action by this process, or by any process if the line names none.
  GateEvent* open_gate(const Json& line) {
    const uint32_t action = number_at<uint32_t>(line, "action", 0);
    const bool named = line.contains("process");
    const ProcessId process = process_of(line);
    for (auto it = facts_.gates.rbegin(); it != facts_.gates.rend(); ++it)
      if (it->action == action && (!named || same_process(it->process, process))) return &*it;
    return nullptr;
  }

  // Returns a firing of this action that was answered and is not done. The harness may read the end of one
  // firing only after the process has asked for the next.
  GateEvent* undone_gate(const Json& line) {
    const uint32_t action = number_at<uint32_t>(line, "action", 0);
    const ProcessId process = process_of(line);
    for (GateEvent& gate : facts_.gates)
      if (gate.action == action && same_process(gate.process, process) && gate.answered != 0 &&
          gate.answer != "no_go" && gate.done == 0)
        return &gate;
    return nullptr;
  }

  GateEvent& new_gate(const Json& line) {
    GateEvent gate;
    gate.action = number_at<uint32_t>(line, "action", 0);
    gate.fault = text_at(line, "fault");
    gate.rank = number_at(line, "rank", -1);
    gate.attempt = number_at(line, "attempt", 0);
    gate.process = process_of(line);
    facts_.gates.push_back(std::move(gate));
    return facts_.gates.back();
  }

  static void read_call(const Json& line, GateEvent& gate) {
    if (line.contains("op")) gate.op = text_at(line, "op");
    if (line.contains("comm")) gate.comm = text_at(line, "comm");
    gate.comm_id = number_at(line, "comm_id", gate.comm_id);
    gate.seq = number_at(line, "seq", gate.seq);
    gate.count = number_at(line, "count", gate.count);
    gate.step = number_at(line, "step", gate.step);
    if (line.contains("path")) gate.path = text_at(line, "path");
    gate.parked_ns = number_at(line, "parked_ns", gate.parked_ns);
  }

  void fault_line(const std::string& ev, const Json& line) {
    const TimeNs t = number_at<TimeNs>(line, "t", 0);
    GateEvent* known = ev == "fault_asked" ? nullptr : open_gate(line);
    if (ev == "fault_done")
      if (GateEvent* undone = undone_gate(line)) known = undone;
    if (ev == "fault_intent" && known && known->done != 0) known = nullptr;  // a new firing
    GateEvent& gate = known ? *known : new_gate(line);
    if (ev != "fault_effect") read_call(line, gate);
    gate.lines.push_back(number_of_line(line));
    if (ev == "fault_asked") gate.asked = number_at(line, "asked_ns", t);
    if (ev == "fault_answered") {
      gate.answered = t;
      gate.answer = text_at(line, "answer");
    }
    if (ev == "fault_done") {
      gate.done = number_at(line, "time", t);
      gate.effect = text_at(line, "effect");
    }
  }

  void log_marker(const Json& line) {
    Mark mark;
    mark.rank = number_at(line, "rank", -1);
    mark.attempt = number_at(line, "attempt", 0);
    mark.what = text_at(line, "marker");
    const std::string text = text_at(line, "text");
    int64_t& step = log_step_[{mark.rank, mark.attempt}];
    if (mark.what == "step_begin" || mark.what == "step_commit") {
      mark.number = step = std::strtoll(text.c_str(), nullptr, 10);
    } else {
      mark.number = step;
      mark.name = mark.what == "value" ? "log" : text;
      if (mark.what == "value") mark.value = std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr));
      if (mark.what == "error") mark.what = "error_mark";
    }
    facts_.marks.push_back(std::move(mark));
  }

  void starved(const Json& line) {
    facts_.starved = true;
    if (!facts_.starved_why.empty()) return;
    facts_.starved_why = fmt::format("rankfault's own timer was {} late",
                                     to_text(Duration(number_at<int64_t>(line, "late_ns", 0))));
  }

  void teardown(const Json& line) {
    const std::string reason = text_at(line, "reason");
    if (reason == "over") return;
    facts_.teardown = number_at<TimeNs>(line, "t", 0);
    facts_.teardown_reason = reason;
  }

  RunFacts& facts_;
  std::map<std::pair<int, int>, int64_t> log_step_;
};

}  // namespace

std::string no_rank_line(const NoRank& none) {
  return none.status.empty()
             ? fmt::format("{} was ended and no rank of it was recorded", none.launcher)
             : fmt::format("{} ended with {} and no rank of it was recorded", none.launcher, none.status);
}

uint64_t number_of_line(const Json& line) { return number_at<uint64_t>(line, "n", 0); }

std::optional<ProcessId> process_from_stem(const std::string& stem) {
  ProcessId id;
  const int read = std::sscanf(stem.c_str(), "%" SCNx64 ".%" SCNu64 ".%d.%" SCNu64 ".%d", &id.host,
                               &id.pid_ns, &id.pid, &id.start, &id.image);
  return read == 5 ? std::optional(id) : std::nullopt;
}

std::string reference_named(const std::vector<Json>& journal) {
  for (const Json& line : journal)
    if (text_at(line, "ev") == "run_begin") return text_at(line, "reference_run");
  return "";
}

uint64_t lost_lines(const std::vector<Json>& journal) {
  const uint64_t last = journal.empty() ? 0 : number_of_line(journal.back());
  return last > journal.size() ? last - journal.size() : 0;
}

void fold_journal(RunFacts& facts) {
  Folder folder(facts);
  facts.lost_lines = lost_lines(facts.journal);
  for (const Json& line : facts.journal) folder.line(line);
  facts.findings = findings_from_journal(facts.journal);
}

}  // namespace rankfault
