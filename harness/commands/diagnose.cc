// diagnose: `rankfault diagnose DIR...`: repeats the diagnosis of a finished or copied run from its flight
// records and the looks in its journal, or diagnoses PyTorch Flight Recorder dumps.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "harness/base/printable.h"
#include "harness/commands/command.h"
#include "harness/diagnose/finding.h"
#include "harness/facts/diagnosed_run.h"
#include "harness/flight_recorder/fr_job.h"
#include "harness/flight_recorder/read_dumps.h"
#include "reports/words.h"

namespace rankfault {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool json = false;
};

// The result for one path: a run directory, or a folder or file of dumps.
struct Diagnosed {
  Findings findings;
  std::vector<std::string> notes;  // unreadable files, lost records, ranks without a dump
};

Result<Diagnosed> from_run(const std::string& run_dir) {
  Result<DiagnosedRun> run = diagnose_run(run_dir);
  if (!run) return run.error();
  Diagnosed d{std::move(run->findings), std::move(run->unread)};
  if (run->losses) d.notes.push_back(losses_text(*run->losses));
  return d;
}

Result<Diagnosed> from_dumps(const std::string& path) {
  const Result<FrJob> job = read_fr_job({path});
  if (!job.ok()) return job.error();
  Diagnosed d;
  for (const FrEvidence& e : job->evidence)
    if (e.kind != FrEvidence::Kind::kLeftOut) d.notes.push_back(e.path.empty() ? e.what : e.to_string());
  if (job->not_one_job.empty()) {
    d.findings = diagnose(job->timeline);
    return d;
  }
  Finding refused;
  refused.kind = "cannot_say";
  refused.text = job->not_one_job;
  d.findings.all.push_back(std::move(refused));
  return d;
}

Error neither(const std::string& path, const std::string& why) {
  return usage_error(
      fmt::format("{} is neither a run directory of rankfault nor Flight Recorder dumps: {}", path, why));
}

// Why a folder has no readable dump: files with names of dumps cannot be read, or no file is a dump.
std::string why_no_dumps(const std::string& folder) {
  std::string first;
  int unreadable = 0;
  if (const Result<FrSources> found = find_dumps({folder}))
    for (const FrEvidence& e : found->evidence)
      if (e.kind == FrEvidence::Kind::kUnreadable && unreadable++ == 0) first = e.to_string();
  if (unreadable == 0) return "it has no journal.ndjson, and none of its files is a dump";
  return fmt::format("{} of its files have names of dumps but cannot be read; the first: {}", unreadable,
                     first);
}

Error not_to_be_diagnosed(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status what = std::filesystem::status(path, error);
  if (error) return errno_error("open " + path, error.value());
  if (std::filesystem::is_directory(what)) return neither(path, why_no_dumps(path));
  if (!std::filesystem::is_regular_file(what)) return neither(path, "it is not a regular file");
  return neither(path, std::filesystem::file_size(path, error) == 0 ? "it is empty" : "it is not a dump");
}

Result<Diagnosed> from(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path + "/journal.ndjson", error)) return from_run(path);
  if (looks_like_dumps(path)) return from_dumps(path);
  return not_to_be_diagnosed(path);
}

// Leaves out evidence that only repeats a side: the line of the side also has its source line.
void print_sides(const Finding& f) {
  std::vector<std::string> lines;
  for (const Side& side : f.sides) lines.push_back(side_line(side));
  const size_t sides = lines.size();
  for (const std::string& line : f.evidence)
    if (std::none_of(lines.begin(), lines.begin() + sides, [&](auto& l) { return l.starts_with(line); }))
      lines.push_back(line);
  if (!f.call_site.empty() &&
      std::none_of(f.sides.begin(), f.sides.end(), [&](const Side& s) { return s.call_site == f.call_site; }))
    lines.push_back("call site: " + f.call_site);
  for (const std::string& line : lines) std::printf("    %s\n", line.c_str());
}

void print(const Findings& findings) {
  for (const Finding& f : findings.all) {
    std::printf("%s%s%s: %s\n", f.caused_by >= 0 ? "  then " : "", f.kind.c_str(),
                !names_trouble(f)                     ? ""
                : f.confidence == Confidence::kProven ? " (proven)"
                                                      : " (inferred)",
                f.text.c_str());
    if (f.caused_by >= 0) continue;
    print_sides(f);
    if (!f.ends_by.empty()) std::printf("    ended by: %s\n", f.ends_by.c_str());
    for (const Assumption& a : f.assumes)
      if (!a.holds) std::printf("    not proven, %s fails: %s\n", a.name.c_str(), a.why.c_str());
  }
}

int exit_code(const Findings& findings) {
  if (findings.cannot_say()) return kExitUnknown;
  return findings.nothing_wrong() ? kExitPass : kExitFail;
}

// The exit code for several paths: fail before unknown before pass.
int worse(int a, int b) {
  if (a == kExitFail || b == kExitFail) return kExitFail;
  return std::max(a, b);
}

int run(const Options& options) {
  int code = kExitPass;
  Json all = Json::array();
  for (const std::string& path : options.paths) {
    const Result<Diagnosed> found = from(path);
    if (!found) {
      std::fprintf(stderr, "rankfault diagnose: %s\n", found.error().to_string().c_str());
      return exit_of(found.error());
    }
    code = worse(code, exit_code(found->findings));
    if (options.json) {
      Json one{{"findings", to_json(found->findings)}};
      for (const Finding& f : found->findings.unsafe) one["unsafe"].push_back(to_json(f));
      for (const Finding& f : found->findings.remarks) one["remarks"].push_back(to_json(f));
      if (options.paths.size() > 1) one["path"] = path;
      if (!found->notes.empty()) one["notes"] = found->notes;
      all.push_back(std::move(one));
      continue;
    }
    if (options.paths.size() > 1)
      std::printf("%s%s\n", all.empty() && path == options.paths.front() ? "" : "\n", path.c_str());
    for (const std::string& note : found->notes) std::printf("note: %s\n", inert_text(note).c_str());
    print(found->findings);
    std::printf("%s%s", unsafe_text(found->findings).c_str(), remarks_text(found->findings).c_str());
  }
  const auto print_json = [](const Json& json) {
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  };
  if (options.json && all.size() == 1)
    print_json(all[0]);
  else if (options.json)
    print_json(Json{{"jobs", std::move(all)}});
  return code;
}

const Registration<CliCommand> kCommand{
    {"diagnose",
     "Name what went wrong in a finished run, or in Flight Recorder dumps, from the records alone",
     "Examples:\n  rankfault diagnose rankfault-runs/kill-1\n  rankfault diagnose RUN --json\n"
     "  rankfault diagnose /tmp/nccl_trace_dumps   PyTorch Flight Recorder dumps, one file for each rank\n"
     "Each of several directories is a job of its own.\n"
     "Exit: 0 nothing found, 1 a finding, 2 cannot say, 64 neither a run directory nor dumps.",
     [](CLI::App& app) -> std::function<int()> {
       const auto options = std::make_shared<Options>();
       app.add_option("run", options->paths, "run directories or folders of dumps")->required();
       app.add_flag("--json", options->json, "print the findings as JSON");
       return [options] { return run(*options); };
     }}};

}  // namespace
}  // namespace rankfault
