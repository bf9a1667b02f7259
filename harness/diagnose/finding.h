// Finding: what the diagnosis believes happened, with its evidence and how sure it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/observe/timeline.h"

namespace rankfault {

// kStrict: not of what happened, but of what the recorded calls do under the strictest semantics of the
// standard; of the kind `unsafe` alone. kRemark: recorded, forbidden by the standard, and without effect; of
// the kind `type_remark` alone.
enum class Confidence { kInferred, kProven, kStrict, kRemark };
enum class Claim { kNone, kCannotReturn, kNotTheSameCall, kHadNotEntered };

struct SeqRange {
  uint64_t from = 0, to = 0;  // equal when exact
};

// One side of a disagreement, or the waiting side of a hang.
struct Side {
  std::vector<int> ranks;
  std::string op;    // "" : no call
  std::string what;  // "all_reduce float32 x 1024 sum on world, call 3"
  std::string call_site;
};

struct Assumption {
  // every_edge_is_a_need, ends_are_final, issuers_closed, full_view, one_look; of cycles also no_new_issuer,
  // and what is taken for granted: nobody_gives_up; of late ranks one_clock, left_by_its_limit,
  // did_not_recover
  std::string name;
  bool holds = false;
  std::string why;
};

// A call that a proven finding speaks of, by where it stands in the record of its rank: what can refute it.
struct ClaimedCall {
  int rank = -1;
  uint32_t lane = 0, number = 0;
};

struct Finding {
  std::string kind;        // DIAGNOSIS: missing_call, dead_rank ...
  std::vector<int> ranks;  // blamed; empty: nobody, see sides
  std::vector<Side> sides;
  std::string op;
  std::string comm;      // "world", the library's name, or "size 2 of ranks 0 1"
  uint64_t comm_id = 0;  // not printed to people
  std::optional<SeqRange> seq;
  std::string seq_reason;  // when from != to
  std::string field;       // call_mismatch: the argument that differs
  std::string call_site;
  std::string resource;  // host_resource: the path
  int attempt = 0;
  Confidence confidence = Confidence::kInferred;
  Claim claim = Claim::kNone;
  // cannot_return: these cannot; not_the_same_call: these are paired; had_not_entered: given up while `ranks`
  // had not entered the same place
  std::vector<ClaimedCall> claimed;
  std::vector<Assumption> assumes;
  std::string ends_by;  // the limit we know of, that will end the call
  TimeNs at = 0;        // when what it tells of came to be
  // host_resource: when its ranks entered the last call that they left before they met it. Others may have
  // waited for them from then on because of it; 0: not known.
  TimeNs since = 0;
  std::string text;                   // one sentence for people
  std::vector<std::string> evidence;  // lines of the record it was built from
  int caused_by = -1;                 // index of the finding it hangs under; -1: a cause of its own
  // The job finished with 0, although a rank ended before (the others went on) or calls could not return
  // (their ranks jumped out of them).
  bool handled = false;
  bool withdrawn = false;         // in a journal line: an earlier look inferred it, the last one does not
  std::string withdrawn_because;  // "rank 1 went on"
};

// Ordered: first cause first. Never empty: `none` when nothing is wrong.
struct Findings {
  std::vector<Finding> all;
  // Deadlocks that did not happen, because MPI buffered a message. They change a verdict only where a
  // scenario or an option asks for them.
  std::vector<Finding> unsafe = {};
  // What the standard forbids and the library carries out like what it allows. They change no verdict.
  std::vector<Finding> remarks = {};
  // Whether the replay that fills `unsafe` came to its end. If not, an empty `unsafe` does not mean safe.
  bool strict_known = false;
  // Where every rank ended with 0: the calls whose end no record has. Their threads jumped out of them.
  std::vector<ClaimedCall> left_by_jumps = {};
  // One finding `cannot_say`: nothing was recorded that a diagnosis could stand on.
  bool cannot_say() const { return all.size() == 1 && all[0].kind == "cannot_say"; }
  bool nothing_wrong() const { return all.size() == 1 && all[0].kind == "none"; }
  // The program went on after each of them: nothing is wrong with a job that finished with 0.
  bool only_handled() const;
};

// The least patience of inferred findings; the job's own record can only lengthen it (patience.h). What is
// proven does not depend on it.
struct DiagnoseOptions {
  Duration slow_after{2'000'000'000};   // a wait for longer may be told, and who is late: slow, stopped
  Duration hung_after{20'000'000'000};  // one for longer may be called hung: stuck, wedged, not joined
  bool operator==(const DiagnoseOptions&) const = default;
};

// Whether it says that the job cannot go on: proven so, or one of the kinds that infer it. A rank that is
// slow, stopped or gone, and calls that do not fit, may leave a job that goes on.
bool says_it_hangs(const Finding&);

// Pure, and the heart: flight records and ends in, findings out.
Findings diagnose(const Timeline&, const DiagnoseOptions& = {});

// The timeline without what its journal line leaves out: what a replay will see. Live diagnosis uses it too,
// so both give the same bytes.
Timeline canonical(Timeline);

// Findings over the looks of a run: a proven finding stays; an inferred one is replaced when it
// becomes proven and withdrawn when the last look no longer has it. A proven deadlock is handled at the last
// look where its ranks jumped out of all its calls.
class FindingsLog {
 public:
  // Returns those that are new or changed: the caller journals them (and the look before them).
  std::vector<Finding> add(const Findings&, bool last_look);
  std::vector<Finding> news(const Findings&, bool last_look) const;  // the same, and nothing is kept
  // Takes one of those again, as read from a journal: the same result without the timelines.
  void take(const Finding&);
  // The same of those beside them (Findings::unsafe and remarks), and of Findings::strict_known at a last
  // look, which add() takes by itself.
  void take_unsafe(const Finding&);
  void take_remark(const Finding&);
  void take_strict_known(bool known) { strict_known_ = known; }
  Findings result() const;

 private:
  std::vector<Finding> kept_, unsafe_, remarks_;
  bool strict_known_ = false;
  Findings quiet_;  // what the newest look said while nothing was kept
};

// The findings of a finished run, from its journal alone: folds its `finding`, `unsafe`, `remark` and last
// `look` lines.
Findings findings_from_journal(const std::vector<Json>& lines);

// Orders by what came first and hangs later ones under their cause (caused_by).
void order_by_cause(std::vector<Finding>&);

const char* to_text(Confidence);  // proven, inferred, strict, remark
Json to_json(const Finding&);
Json to_json(const Findings&);
Result<Finding> finding_from_json(const Json&);

}  // namespace rankfault
