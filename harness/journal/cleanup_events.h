// cleanup_events: the journal lines about what the job left behind, and what the clean-up did.
#pragma once

#include "harness/journal/event.h"

namespace rankfault::events {

// The keys of the lines that name one thing that is left.
struct LeftoverLine {
  std::string kind, what;
};

struct Leftover : LeftoverLine {
  static constexpr EventDoc kDoc{"leftover", Section::kCleanUp,
                                 "by the census, after the end of the job and before clean-up"};

  static void keys(auto&& key) {
    key("kind", &Leftover::kind, "`process`, `shm`, `socket`, `temp_file`, `sysv`");
    key("what", &Leftover::what);
  }
};

struct UnclearLeftover : LeftoverLine {
  static constexpr EventDoc kDoc{"unclear_leftover", Section::kCleanUp,
                                 "it was made during the run by the same user, and nothing shows which "
                                 "process made it. A `temp_file` is "
                                 "in a TMPDIR of the workload's own"};

  static void keys(auto&& key) {
    key("kind", &UnclearLeftover::kind, "`sysv`, `queues`, `temp_file`");
    key("what", &UnclearLeftover::what);
  }
};

struct CensusUnanswered {
  static constexpr EventDoc kDoc{
      "census_unanswered", Section::kCleanUp,
      "the guardian did not answer the request for one more look: the census may miss files"};
  std::string why;

  static void keys(auto&& key) { key("why", &CensusUnanswered::why); }
};

struct Census {
  static constexpr EventDoc kDoc{"census", Section::kCleanUp,
                                 "the number of each, once, if the job ended by itself. A kind that could "
                                 "not be examined is absent"};
  std::optional<uint64_t> processes, shm, sockets, temp_files, sysv, queues;

  static void keys(auto&& key) {
    key("processes", &Census::processes);
    key("shm", &Census::shm);
    key("sockets", &Census::sockets);
    key("temp_files", &Census::temp_files);
    key("sysv", &Census::sysv);
    key("queues", &Census::queues);
  }
};

struct Check {
  static constexpr EventDoc kDoc{
      "check", Section::kCleanUp,
      "the command of a `check` expectation ran: after the census, before clean-up"};
  std::string kind;
  std::optional<int> value;
  std::optional<std::string> why;
  std::optional<Duration> took_ns;
  std::optional<uint64_t> bytes;
  std::optional<std::string> digest, said, output;
  std::string id;
  std::vector<std::string> argv;

  static void keys(auto&& key) {
    key("kind", &Check::kind, "`exit`, `signal`, `timeout`, `interrupted`, `not_started`, `not_run`");
    key("value", &Check::value);
    key("why", &Check::why);
    key("took_ns", &Check::took_ns);
    key("bytes", &Check::bytes, "of all its output, as the next");
    key("digest", &Check::digest);
    key("said", &Check::said, "the last line");
    key("output", &Check::output, "`checks/check-N.log`, the beginning of the output");
    key("id", &Check::id, "of its expectation");
    key("argv", &Check::argv);
  }
};

struct GuardianStopped {
  static constexpr EventDoc kDoc{
      "guardian_stopped", Section::kCleanUp,
      "before `cleanup`, if rankfault-guardian was stopped (SIGSTOP) and rankfault continued it"};
  int times = 0;

  static void keys(auto&& key) { key("times", &GuardianStopped::times); }
};

struct Cleanup {
  static constexpr EventDoc kDoc{"cleanup", Section::kCleanUp, "after the guardian undid what was done"};
  std::vector<std::string> failed, left;

  static void keys(auto&& key) {
    key("failed", &Cleanup::failed, "what could not be undone, one text each");
    key("left", &Cleanup::left, "files of the job that stay");
  }
};

}  // namespace rankfault::events
