#include "harness/commands/events_page.h"

#include <fmt/format.h>

#include "harness/commands/catalogue_text.h"

namespace rankfault {
namespace {

constexpr const char* kHead = R"(# The journal

Made by `rankfault list events --markdown`.

`journal.ndjson` in a run directory holds one JSON object a line. rankfault appends to it during the run and never
rewrites it. Every line has three keys:

- `n`: its number, from 1
- `t`: CLOCK_MONOTONIC in ns
- `ev`: the event

Everything that a verdict uses is written here before it is used. Values with the names of secrets are written as
`***` ([which](what-is-changed.md#secrets)). The key `process` names a process by its stem
`"HOST.PIDNS.PID.START.IMAGE"`, which is also the name of its flight record. A key that has nothing to say may be
absent. A reader passes over events and keys that it does not know.

If the disk refuses a line, rankfault continues without it. The number of that line is missing in the file, and
rankfault prints how many lines it lost and why. Numbers only grow, so `judge` counts the missing lines. A run that
lost lines is *unknown*, whatever its other expectations say. A line that rankfault did not write also makes the run
unknown: `judge` and `diagnose` name its place and exit with 2.
)";

constexpr const char* kTail = R"(
## What `diagnose` reads

`rankfault diagnose RUN` reads only `run_begin`, `attempt_begin`, `spawned`, `rank_end`, `look`, `history` and
`run_end`, and the flight records. A run from which plan.json, `*.actions` and all `fault_*` lines were deleted gives
the same findings, byte for byte.
)";

std::string section(const char* title, Section which) {
  std::string out = fmt::format("\n## {}\n\n| ev | other keys | written |\n|---|---|---|\n", title);
  for (const EventPage& page : all_events())
    if (page.doc.section == which)
      out += fmt::format("| `{}` | {} | {} |\n", page.doc.name, markdown_cell(keys_text(page)),
                         markdown_cell(page.doc.written));
  return out;
}

}  // namespace

std::string keys_text(const EventPage& page) {
  std::string out;
  for (const EventKey& key : page.keys)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", key.name,
                       *key.meaning ? fmt::format(" ({})", key.meaning) : "");
  return out;
}

std::string events_page() {
  return kHead + section("The run", Section::kRun) + section("Faults", Section::kFaults) +
         section("Findings", Section::kFindings) + section("Clean-up", Section::kCleanUp) + kTail;
}

}  // namespace rankfault
