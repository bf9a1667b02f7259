// diagnose: `rankfault diagnose RUN_DIR`: the findings of a finished or copied run again, from its
// flight records and the journal's looks alone.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/commands/command.h"
#include "harness/diagnose/finding.h"
#include "harness/observe/observer.h"
#include "harness/run/journal.h"

namespace rankfault {
namespace {

struct Options {
  std::string run_dir;
  bool json = false;
};

// Every journaled look again, in order. A run that was never looked at is looked at at its end.
Result<Findings> replay(const std::string& run_dir) {
  const Result<std::vector<Json>> journal = read_journal(run_dir + "/journal.ndjson");
  if (!journal) return journal.error();
  RunRecords records(run_dir);
  FindingsLog log;
  DiagnoseOptions options;
  bool looked = false, ended = false;
  for (const Json& line : *journal) {
    ended = ended || line.value("ev", "") == "run_end";
    if (line.value("ev", "") == "run_begin")
      options.slow_after = Duration(line.value("slow_after_ns", options.slow_after.count()));
    if (line.value("ev", "") != "look") continue;
    const Result<Timeline> timeline = records.at_look(line);
    if (!timeline) return timeline.error();
    log.add(diagnose(*timeline, options), line.value("last", false));
    looked = true;
  }
  if (!looked) {
    const Result<Timeline> timeline = final_timeline(run_dir);
    if (!timeline) return timeline.error();
    log.add(diagnose(canonical(*timeline), options), true);
  }
  Findings findings = log.result();
  if (!ended && findings.nothing_wrong()) {
    findings.all.front().kind = "cannot_say";
    findings.all.front().text =
        "the journal ends before the run did; until then: " + findings.all.front().text;
  }
  return findings;
}

void print(const Findings& findings) {
  for (const Finding& f : findings.all) {
    std::printf("%s%s%s: %s\n", f.caused_by >= 0 ? "  then " : "", f.kind.c_str(),
                f.kind == "none" || f.kind == "cannot_say" ? ""
                : f.confidence == Confidence::kProven      ? " (proven)"
                                                           : " (inferred)",
                f.text.c_str());
    if (f.caused_by >= 0) continue;
    for (const std::string& line : f.evidence) std::printf("    %s\n", line.c_str());
    if (!f.call_site.empty()) std::printf("    call site: %s\n", f.call_site.c_str());
    if (!f.ends_by.empty()) std::printf("    ended by: %s\n", f.ends_by.c_str());
    for (const Assumption& a : f.assumes)
      if (!a.holds) std::printf("    not proven, %s fails: %s\n", a.name.c_str(), a.why.c_str());
  }
}

int run(const Options& options) {
  const Result<Findings> findings = replay(options.run_dir);
  if (!findings) {
    std::fprintf(stderr, "rankfault diagnose: %s\n", findings.error().to_string().c_str());
    return findings.error().kind == ErrorKind::kInternal ? kExitInternal : kExitUsage;
  }
  if (options.json)
    std::printf("%s\n", Json{{"findings", to_json(*findings)}}.dump(2).c_str());
  else
    print(*findings);
  if (findings->cannot_say()) return kExitUnknown;
  return findings->nothing_wrong() ? kExitPass : kExitFail;
}

const Registration<CliCommand> kCommand{
    {"diagnose", "Name what went wrong in a finished run, from its flight records alone",
     "Examples:\n  rankfault diagnose rankfault-runs/kill-1\n  rankfault diagnose RUN --json\n"
     "Exit: 0 nothing found, 1 a finding, 2 cannot say, 64 not a run directory.",
     [](CLI::App& app) -> std::function<int()> {
       const auto options = std::make_shared<Options>();
       app.add_option("run", options->run_dir, "the run directory")->required();
       app.add_flag("--json", options->json, "findings as JSON");
       return [options] { return run(*options); };
     }}};

}  // namespace
}  // namespace rankfault
