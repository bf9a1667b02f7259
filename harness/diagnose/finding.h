// Finding: what the diagnosis concludes, with its evidence and its confidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/diagnose/timing/clocks.h"
#include "harness/observe/timeline.h"

namespace rankfault {

struct JournalLine;  // harness/journal/journal_line.h

// kStrict describes not what happened, but what the recorded calls would do under the strictest semantics of
// the standard; only for the kind `unsafe`. kRemark describes a recorded call that the standard forbids and
// that had no effect; only for the kind `type_remark`.
enum class Confidence { kInferred, kProven, kStrict, kRemark };
enum class Claim { kNone, kCannotReturn, kNotTheSameCall, kHadNotEntered };

struct SeqRange {
  uint64_t from = 0, to = 0;  // equal if the place is exact
};

// One side of a disagreement, or the waiting side of a hang.
struct Side {
  std::vector<int> ranks;
  std::string op;    // "": no call
  std::string what;  // "all_reduce float32 x 1024 sum on world, call 3"
  std::string call_site;
};

struct Assumption {
  // every_edge_is_a_need, ends_are_final, issuers_closed, full_view, one_look. Cycles add no_new_issuer and
  // an assumption that is taken for granted: nobody_gives_up. Late ranks add one_clock, left_by_its_limit,
  // did_not_recover. A deadlock that its ranks ended adds waited_together.
  std::string name;
  bool holds = false;
  std::string why;
};

// A call that a proven finding is about, identified by its position in the rank's record. A test can refute
// the finding by it.
struct ClaimedCall {
  int rank = -1;
  uint32_t lane = 0, number = 0;
};

struct Finding {
  std::string kind;        // DIAGNOSIS: missing_call, dead_rank ...
  std::vector<int> ranks;  // blamed ranks; empty: no rank is blamed, see sides
  std::vector<Side> sides;
  std::string op;
  std::string comm;      // "world", the library's name, or "size 2 of ranks 0 1"
  uint64_t comm_id = 0;  // not shown to users
  std::optional<SeqRange> seq;
  std::string seq_reason;  // set if from != to
  std::string field;       // call_mismatch: the argument that differs
  std::string call_site;
  std::string resource;  // host_resource: the path
  int attempt = 0;
  Confidence confidence = Confidence::kInferred;
  Claim claim = Claim::kNone;
  // cannot_return: these calls cannot return. not_the_same_call: these calls are paired. had_not_entered:
  // ranks gave up these calls before `ranks` had entered the same place.
  std::vector<ClaimedCall> claimed;
  std::vector<Assumption> assumes;
  std::string ends_by;             // the known limit that will end the call
  Instant at;                      // when the reported event happened
  std::optional<NodeClock> clock;  // of `at` and `since`; diagnose() fills it where a rule does not
  // host_resource: when its ranks entered the last call that they left before the problem. Other ranks may
  // have waited for them since then because of it.
  Instant since;
  std::string text;                   // one sentence for users
  std::vector<std::string> evidence;  // lines of the record that support the finding
  int caused_by = -1;  // index of the finding that caused this one; -1: it has no cause among the findings
  // The job finished with 0 although a rank ended early (the others continued) or calls could not return
  // (their ranks jumped out of them).
  bool handled = false;
  bool withdrawn = false;         // in a journal line: an earlier look inferred it, the last look does not
  std::string withdrawn_because;  // "rank 1 went on"
};

// Every kind but `none` and `cannot_say` names trouble.
inline bool names_trouble(const std::string& kind) { return kind != "none" && kind != "cannot_say"; }
inline bool names_trouble(const Finding& finding) { return names_trouble(finding.kind); }

// In order, first cause first. Never empty: the kind is `none` if nothing is wrong.
struct Findings {
  std::vector<Finding> all;
  // Deadlocks that did not happen because MPI buffered a message. They change a verdict only if a scenario or
  // an option asks for them.
  std::vector<Finding> unsafe = {};
  // Calls that the standard forbids and the library carries out as if they were allowed. They change no
  // verdict.
  std::vector<Finding> remarks = {};
  // Whether the replay that fills `unsafe` completed. If not, an empty `unsafe` does not mean safe.
  bool strict_known = false;
  // If every rank ended with 0: the calls that have no recorded end. Their threads jumped out of them.
  std::vector<ClaimedCall> left_by_jumps = {};
  // True if the look had only the newest calls and leaves out what they infer. A finding that it lacks may
  // still hold.
  bool proven_only = false;
  // True if the only finding is `cannot_say`: the record has nothing that a diagnosis could use.
  bool cannot_say() const { return all.size() == 1 && all[0].kind == "cannot_say"; }
  bool nothing_wrong() const { return all.size() == 1 && all[0].kind == "none"; }
  // True if the program continued after each finding: a job that finished with 0 has no fault.
  bool only_handled() const;
};

// The minimum patience for inferred findings. The job's own record can only lengthen it (wait_thresholds.h).
// Proven findings do not depend on it.
struct DiagnoseOptions {
  Duration slow_after = 2s;   // a longer wait may be reported, with the late rank: slow, stopped
  Duration hung_after = 20s;  // a longer wait may be called hung: stuck, wedged, not joined
  bool operator==(const DiagnoseOptions&) const = default;
};

// Whether the finding says that the job cannot continue: it is proven, or its kind infers it. A job may
// continue after other findings: a slow, stopped or ended rank, or calls that do not fit.
bool says_it_hangs(const Finding&);

// The core of the diagnosis, and a pure function: takes flight records and ends, returns findings.
Findings diagnose(const Timeline&, const DiagnoseOptions& = {});

// Returns the timeline without the parts that its journal line omits, as a replay will see it. Live diagnosis
// also uses it, so both give the same bytes.
Timeline canonical(Timeline);

// Collects findings over the looks of a run. A proven finding stays; if it blames no rank, the last look may
// name the rank. An inferred finding is replaced when it becomes proven. It is withdrawn when the last look
// no longer has it, or when a whole look has the exit of its rank instead. A proven deadlock is handled if,
// at the last look, its ranks have jumped out of all its calls.
class FindingsLog {
 public:
  // Returns the new and the changed findings. The caller writes them to the journal, after the look that they
  // come from.
  std::vector<Finding> add(const Findings&, bool last_look);
  std::vector<Finding> news(const Findings&, bool last_look) const;  // the same, but keeps nothing
  // Takes one of those findings as read from a journal, to get the same result without the timelines.
  void take(const Finding&);
  // The same for Findings::unsafe and remarks, and for Findings::strict_known at a last look. add() takes
  // these by itself.
  void take_unsafe(const Finding&);
  void take_remark(const Finding&);
  void take_strict_known(bool known) { strict_known_ = known; }
  Findings result() const;

 private:
  std::vector<Finding> kept_, unsafe_, remarks_;
  bool strict_known_ = false;
  Findings quiet_;  // the result of the newest look while nothing was kept
};

// Returns the findings of a finished run from its journal alone: combines the `finding`, `unsafe` and
// `remark` lines and the last `look` line.
Findings findings_from_journal(const std::vector<JournalLine>&);

// Sorts the findings by time of cause and links later ones to their cause (caused_by).
void order_by_cause(std::vector<Finding>&);

const char* to_text(Confidence);  // proven, inferred, strict, remark
Json to_json(const Finding&);
Json to_json(const Findings&);
Result<Finding> finding_from_json(const Json&);

}  // namespace rankfault
