// finding_events: the journal lines about what rankfault saw and concluded while the job ran.
#pragma once

#include "harness/journal/event.h"

namespace rankfault::events {

struct Look {
  static constexpr EventDoc kDoc{
      "look", Section::kFindings,
      "for a look with new or changed findings, and for the last look of each attempt"};
  std::string reason;
  bool last = false, consistent = false, strict_known = false;
  std::optional<Json> state;

  static void keys(auto&& key) {
    key("reason", &Look::reason);
    key("last", &Look::last, "the last one of its attempt");
    key("consistent", &Look::consistent);
    key("strict_known", &Look::strict_known,
        "whether the record of the finished attempt suffices to decide `unsafe`");
    key("state", &Look::state, "the state words of the `Timeline`");
  }
};

// The keys of the lines that hold one finding. `finding` is the Json of a Finding.
struct FindingLine {
  uint64_t look = 0;
  Json finding = Json::object();

  static void keys(auto&& key) {
    key("look", &FindingLine::look, "number of the line of its look");
    key("finding", &FindingLine::finding);
  }
};

struct Finding : FindingLine {
  static constexpr EventDoc kDoc{
      "finding", Section::kFindings,
      "new or changed at that look. `withdrawn: true` inside: no longer believed; `withdrawn_because` gives "
      "the reason"};
};

struct Unsafe : FindingLine {
  static constexpr EventDoc kDoc{"unsafe", Section::kFindings,
                                 "at the last look of an attempt that ended well: what its calls would do if "
                                 "MPI buffered nothing. It is "
                                 "not a finding"};
};

struct Remark : FindingLine {
  static constexpr EventDoc kDoc{"remark", Section::kFindings,
                                 "at the last look of an attempt that is over: what the standard forbids and "
                                 "the library carried out. It "
                                 "is not a finding"};
};

struct Evidence {
  static constexpr EventDoc kDoc{"evidence", Section::kFindings,
                                 "stacks and sockets of a rank were taken while the job hung"};
  int rank = -1, pid = 0;
  std::optional<std::string> file, no;

  static void keys(auto&& key) {
    key("rank", &Evidence::rank);
    key("pid", &Evidence::pid);
    key("file", &Evidence::file, "`evidence/rank-N.json`; of a second hang `rank-N.2.json`");
    key("no", &Evidence::no, "why there is none");
  }
};

}  // namespace rankfault::events
