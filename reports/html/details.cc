#include "reports/html/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/evidence/calls.h"
#include "reports/html/clock.h"
#include "reports/html/journal_words.h"
#include "reports/html/wait_for.h"
#include "reports/log_that_tells.h"
#include "reports/words.h"

namespace rankfault::html {
namespace {

// Of each list, this many are shown; the page counts the others.
constexpr size_t kMostLines = 20, kMostGraphs = 4, kMostRanks = 128, kMostThreads = 16, kMostFrames = 40,
                 kMostParks = 500, kMostFindings = 200;

Json cleaned(const std::vector<std::string>& texts, size_t most) {
  Json out = Json::array();
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) out.push_back(clean(texts[i]));
  if (texts.size() > most) out.push_back(fmt::format("... {} more", texts.size() - most));
  return out;
}

Json finding_json(const RunFacts& facts, const Finding& f) {
  Json sides = Json::array();
  for (const Side& side : f.sides)
    if (sides.size() < kMostLines) sides.push_back(clean(side_line(side)));
  Json assumes = Json::array();
  for (const Assumption& a : f.assumes)
    assumes.push_back({{"name", a.name}, {"holds", a.holds}, {"why", clean(a.why)}});
  return {{"kind", f.kind},
          {"line", clean(finding_line(f))},
          {"text", clean(f.text)},
          {"confidence", to_text(f.confidence)},
          {"trouble", names_trouble(f)},
          {"handled", f.handled},
          {"caused_by", f.caused_by},
          {"ranks", f.ranks},
          {"t", Clock(facts).json(f.at)},
          {"sides", std::move(sides)},
          {"evidence", cleaned(f.evidence, kMostLines)},
          {"assumes", std::move(assumes)},
          {"ends_by", clean(f.ends_by)}};
}

void add_lines(Json& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find_first_not_of(' '); at != std::string::npos)
      out.push_back(clean(line.substr(at)));
}

Json thread_json(const ThreadEvidence& thread) {
  std::vector<std::string> frames;
  for (const PythonFrame& frame : thread.python) frames.push_back(frame.function + " (" + frame.where + ")");
  for (const Frame& frame : thread.frames)
    frames.push_back((frame.function.empty() ? "?" : frame.function) + " (" + frame.where + ")");
  std::string head = fmt::format("thread {} {}", thread.tid, thread.name);
  if (thread.state) head += fmt::format(", state {}", thread.state);
  if (!thread.system_call.empty()) head += ", in " + thread.system_call;
  if (!thread.kernel.empty()) head += ", " + thread.kernel;
  return {{"head", clean(head)}, {"frames", cleaned(frames, kMostFrames)}};
}

}  // namespace

Json findings_json(const RunFacts& facts, const CommNames& names) {
  Json out = Json::array();
  size_t graphs = 0;
  for (const Finding& f : facts.findings.all) {
    if (out.size() >= kMostFindings) break;
    Json one = finding_json(facts, f);
    if (names_trouble(f) && f.caused_by < 0 && graphs++ < kMostGraphs)
      one["graph"] = wait_for_graph(facts, f, names);
    out.push_back(std::move(one));
  }
  return out;
}

Json expectations_json(const RunReport& report) {
  Json out = Json::array();
  for (const ExpectationResult& result : report.judgement.expectations) {
    Json lines = Json::array();
    for (const uint64_t n : result.journal) {
      if (lines.size() >= kMostLines || !report.facts) break;
      for (const JournalLine& line : report.facts->journal)
        if (line.n == n) {
          const LineWords words = words_of(line);
          lines.push_back({{"n", n},
                           {"t", Clock(*report.facts).json(words.happened)},
                           {"rank", words.rank},
                           {"text", clean(words.text)}});
          break;
        }
    }
    const size_t left_out = result.journal.size() - std::min(result.journal.size(), kMostLines);
    out.push_back({{"id", clean(result.id)},
                   {"verdict", to_text(result.verdict)},
                   {"because", clean(result.because)},
                   {"lines", std::move(lines)},
                   {"lines_left_out", left_out}});
  }
  return out;
}

Json faults_json(const RunReport& report) {
  Json out = Json::array();
  for (const FaultResult& fault : report.judgement.faults) {
    Json at;
    if (const auto known = report.facts->fault_at.find(fault.id); known != report.facts->fault_at.end())
      at = Clock(*report.facts).json(known->second);
    int rank = -1;
    for (const GateEvent& gate : report.facts->gates)
      if (gate.fault == fault.id) rank = gate.rank;
    const std::string how = !fault.how.empty() ? fault.how : fault.fired ? "fired" : "did not fire";
    out.push_back({{"id", clean(fault.id)},
                   {"kind", clean(fault.kind)},
                   {"verified", fault.verified},
                   {"how", clean(how)},
                   {"t", at},
                   {"rank", rank}});
  }
  return out;
}

Json parks_json(const RunFacts& facts) {
  Json out = Json::array();
  const Clock clock(facts);
  for (const GateEvent& gate : facts.gates) {
    if (!is_known(gate.asked) || gate.rank < 0 || out.size() >= kMostParks) continue;
    const Instant end = gate.parked > 0ns     ? gate.asked + gate.parked
                        : is_known(gate.done) ? gate.done
                                              : gate.answered;
    out.push_back({{"rank", gate.rank},
                   {"attempt", gate.attempt},
                   {"from", clock.json(gate.asked)},
                   {"to", clock.json(end)},
                   {"what", clean(fmt::format("{}: parked at {}{}", gate.fault, gate.op,
                                              gate.seq == 0 ? "" : fmt::format(" {}", gate.seq)))}});
  }
  return out;
}

Json stacks_json(const RunFacts& facts) {
  Json out = Json::array();
  for (const RankEvidence& rank : facts.evidence) {
    if (out.size() >= kMostRanks) break;
    Json threads = Json::array();
    for (size_t i = 0; i < std::min(rank.threads.size(), kMostThreads); ++i)
      threads.push_back(thread_json(rank.threads[i]));
    out.push_back({{"rank", rank.rank},
                   {"pid", rank.pid},
                   {"short", cleaned(short_evidence(rank), kMostLines)},
                   {"threads", std::move(threads)},
                   {"threads_left_out", rank.threads.size() - std::min(rank.threads.size(), kMostThreads)}});
  }
  return out;
}

Json log_json(const RunReport& report) {
  Json out = Json::array();
  add_lines(out, no_rank_text(*report.facts));
  if (!is_good(report)) add_lines(out, log_that_tells(*report.facts, ""));
  return out;
}

Json notes_json(const RunReport& report) {
  Json out = Json::array();
  const RunFacts& facts = *report.facts;
  for (const std::string& lost : losses_of(facts)) out.push_back("kept: " + clean(lost));
  for (const std::string& lost : report.lost) out.push_back("lost: " + clean(lost));
  if (!report.cleanup.empty()) out.push_back("left: " + clean(report.cleanup));
  for (const std::string& note : notes_of(facts.evidence)) out.push_back(clean(note));
  add_lines(out, python_notes(facts));
  add_lines(out, left_behind_text(facts.left_behind));
  add_lines(out, unsafe_text(facts.findings));
  add_lines(out, remarks_text(facts.findings));
  if (facts.evidence.size() > kMostRanks)
    out.push_back(
        fmt::format("stacks of {} more ranks are in evidence/", facts.evidence.size() - kMostRanks));
  if (facts.findings.all.size() > kMostFindings)
    out.push_back(
        fmt::format("{} more findings are in result.json", facts.findings.all.size() - kMostFindings));
  if (!facts.ended) out.push_back("the journal ends before the run did: rankfault itself was ended");
  return out;
}

}  // namespace rankfault::html
