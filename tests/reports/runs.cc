// runs: see runs.h.
#include "tests/reports/runs.h"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "harness/base/printable.h"
#include "tests/judge/census_line.h"

namespace rankfault::test {
namespace {

std::string path_of(const std::string& name) {
  const char* source = std::getenv("RANKFAULT_SOURCE_DIR");
  return std::string(source ? source : ".") + "/" + name;
}

void fill_killed(Facts& killed) {
  killed.fault("kill", {2}).struck("kill", 100, -1, 3);
  killed.expect("blamed: {kind: dead_rank, ranks: [2], op: all_reduce}");
  killed.expect("unblocked: {ranks: all, within: 1s, after: kill}").expect("left_nothing");
  killed.call(0, RF_OP_ALL_REDUCE, 50, 1'300, -1).call(1, RF_OP_ALL_REDUCE, 50, 110, -1);
  killed.signalled(2, 9, 100)
      .exited(0, 3, 1'400)
      .exited(1, 3, 120)
      .line("census", kCensus)
      .line("cleanup", {{"failed", Json::array()}});
  Finding dead = finding("dead_rank", {2});
  dead.text = "rank 2 is dead and never entered all_reduce 3 on world, which ranks 0 1 3 wait in";
  dead.sides = {{{0, 1, 3}, "all_reduce", "all_reduce x 1024 on world, call 3", "step.cc:12"}};
  killed.found(dead);
  killed.facts().plan.seed = 7;
}

void fill_canary(Facts& canary) {
  canary.all_exited(0, 200).expect("ended: {ranks: all, exit: 3}").found(finding("none", {}));
  canary.facts().plan.scenario.must_be = {MustBe::Kind::kFail, "ended"};
}

}  // namespace

const char* const kHostile =
    "<script>alert(1)</script> ]]> `code` | cell @team \x1b]0;title\x07\x1b[31m \xc2\x9b"
    "2J \xff\xfe "
    "\xe2\x80\xae \xef\xbf\xbf\n::error file=a.py,line=1::injected\n  ##[error]injected "
    "##vso[task.complete]\r"
    "%0A &amp; \xf0\x9f\x92\xa5";

std::string source_file(const std::string& name) {
  std::ifstream in(path_of(name));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void expect_approved(const std::string& name, const std::string& text) {
  const std::string path = "tests/baselines/" + name;
  if (std::getenv("RANKFAULT_APPROVE")) std::ofstream(path_of(path)) << text;
  EXPECT_EQ(text, source_file(path)) << "against " << path;
}

std::string written(const char* format, const std::vector<RunReport>& reports) {
  const Report* report = Catalog<Report>::instance().find(format);
  if (!report) return "unknown format " + std::string(format);
  const Result<std::string> text = report->write(reports);
  return text ? *text : "refused: " + text.error().message;
}

RunReport report_of(Facts& facts, const std::string& file, const std::string& name) {
  RunReport report;
  report.facts = &facts.facts();
  report.judgement = facts.judged();
  report.scenario = name;
  report.file = file;
  return report;
}

Reports::Reports() {
  fill_killed(killed_);
  fill_canary(canary_);
  reports_.push_back(report_of(killed_, "scenarios/crash/kill.yaml", "kill"));
  reports_.push_back(report_of(canary_, "scenarios/canary/ended.yaml", "ended-wrongly"));
  RunReport skipped;
  skipped.scenario = "mpi-kill";
  skipped.file = "scenarios/crash/mpi-kill.yaml";
  skipped.skipped = "needs mpi: no mpirun on PATH";
  reports_.push_back(skipped);
}

RunReport hostile_report(Facts& facts) {
  const std::string name = std::string("evil ") + kHostile;
  facts.expect("ended: {ranks: all, exit: 3}").all_exited(0, 200);
  facts.call(0, RF_OP_ALL_REDUCE, 50, 60).mark(0, "phase", 1, 55, kHostile);
  Finding found = finding("dead_rank", {2});
  found.text = found.op = found.comm = found.call_site = kHostile;
  found.sides = {{{0, 1}, kHostile, kHostile, kHostile}};
  found.evidence = {std::string("rank 3 wrote: ") + kHostile, kHostile};
  found.assumes = {{"full_view", false, kHostile}};
  facts.facts().findings.all = {found};
  RankEvidence rank;
  rank.rank = 1;
  rank.pid = 7;
  rank.no_python = rank.no_stacks = kHostile;
  rank.threads = {
      {7, kHostile, 'S', "", "", {{kHostile, "program", kHostile}}, {{kHostile, kHostile, false}}}};
  facts.facts().evidence = {rank};
  facts.facts().left_behind = {kHostile};
  facts.facts().run_dir = name;
  for (ProcessView& process : facts.facts().timeline.processes)
    for (CommView& comm : process.comms) comm.name = kHostile;
  RunReport report = report_of(facts, name + ".yaml", name);
  report.judgement.summary = report.judgement.expectations.at(0).because = kHostile;
  report.cleanup = kHostile;
  report.lost = {kHostile};
  return report;
}

void expect_inert(const std::string& text, const std::string& what) {
  EXPECT_EQ(text, inert_text(text)) << what;
  for (const unsigned char c : text)
    EXPECT_TRUE(c >= 0x20 || c == '\n') << what << ": control character " << +c;
}

RunReport cut_report(Facts& facts) {
  facts.expect("finished").inside(0, RF_OP_BARRIER, 40).call(1, RF_OP_BARRIER, 10, 20);
  facts.facts().findings.all = {finding("cannot_say", {})};
  facts.facts().ended = false;
  RunReport report = report_of(facts, "scenarios/a.yaml", "a");
  report.judgement.verdict = Verdict::kUnknown;
  report.judgement.summary = "the journal ends before the run did";
  return report;
}

RunReport large_report(Facts& facts) {
  const auto ranks = static_cast<int>(facts.facts().timeline.processes.size());
  facts.expect("finished");
  Finding dead = finding("dead_rank", {ranks - 1});
  dead.sides = {{{}, "barrier", "barrier on world, call 11", "a.cc:3"}};
  for (int rank = 0; rank < ranks - 1; ++rank) {
    for (int call = 0; call < 10; ++call) facts.call(rank, RF_OP_ALL_REDUCE, call, call + 0.5);
    facts.inside(rank, RF_OP_BARRIER, 20 + rank * 0.001);
    dead.sides[0].ranks.push_back(rank);
  }
  facts.signalled(ranks - 1, 9, 15).found(dead);
  return report_of(facts, "scenarios/large.yaml", "large");
}

}  // namespace rankfault::test
