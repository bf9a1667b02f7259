// words: the wording of reports for people: a finding on one line, the outcome in one word. Texts that hold
// names or output of the job are inert (harness/base/printable.h).
#pragma once

#include <optional>
#include <string>

#include "reports/one_screen.h"
#include "reports/report.h"

namespace rankfault {

std::string finding_line(const Finding&);  // "dead_rank: rank 2, all_reduce, world, call 3, proven"
std::string side_line(const Side&);        // "ranks 0 2: all_reduce on world, call 3 at step.cc:12"
// All of them as the console shows them: the line, the sentence, the sides.
std::string findings_text(const Findings&);  // with sides and last words of causes; equal effects together
// For findings that were printed when they were made: without evidence, and with the sides of the first
// alone.
std::string findings_summary(const Findings&);
// The first cause with its first sides; counts the other findings.
std::string first_cause_text(const Findings&);
// What would happen under the strictest semantics but did not; "" nothing.
std::string unsafe_text(const Findings&);
std::string remarks_text(const Findings&);
// What the records of a long or fast job no longer hold, from the journal's line about it.
std::string losses_text(const events::History&);
std::vector<std::string> losses_of(const RunFacts&);  // for each attempt that lost any
// Why calls of Python programs have no Python frames, each reason once; "" if all have them.
std::string python_notes(const RunFacts&);
// What the ranks were doing while the job hung, once for ranks that did the same; "" when no evidence was
// taken.
std::string evidence_text(const std::vector<RankEvidence>&);
std::string evidence_summary(const std::vector<RankEvidence>&);  // a line each, of the first few
// A launcher program that ended and started no rank, with the end of its log; "" there was none.
std::string no_rank_text(const RunFacts&);
std::string outcome_line(const RunReport&);  // "PASS", "FAIL, as expected", "SKIPPED"
bool is_good(const RunReport&);              // the outcome: as expected, or skipped
std::string replay_line(const RunReport&);   // "" when there is no file to replay
// The first line of each report of a run over the double of CUDA; "" for all others.
std::string notice_line(const RunReport&);
std::string scenario_title(const RunReport&);  // its file, else its name

// A line for each of the job's files that stay on this host; "" none.
std::string left_behind_text(const std::vector<std::string>& paths);

struct ConsoleStyle {
  bool colour = false;                // for a terminal only
  std::optional<Screen> screen = {};  // each run fits it; nothing: all details
};
std::string console_text(const std::vector<RunReport>&, const ConsoleStyle&);
// Whether standard output is a terminal and NO_COLOR (no-color.org) is not set.
bool colour_on_output();
// A word in bold red, green or yellow.
enum class Shade { kBad, kGood, kUnsure };
std::string painted(const std::string& word, Shade, bool colour);

}  // namespace rankfault
