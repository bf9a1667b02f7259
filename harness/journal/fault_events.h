// fault_events: the journal lines about what was done to the job, and what was seen of it.
#pragma once

#include "harness/journal/event.h"

namespace rankfault::events {

// Every line about a fault begins with these keys. An effect on a file names no process.
struct FaultLine {
  std::string fault;
  uint32_t action = 0;
  std::optional<ProcessId> process;
  std::optional<int> rank, attempt;

  static void keys(auto&& key) {
    key("fault", &FaultLine::fault);
    key("action", &FaultLine::action);
    key("process", &FaultLine::process);
    key("rank", &FaultLine::rank);
    key("attempt", &FaultLine::attempt);
  }
};

struct FaultAsked : FaultLine {
  static constexpr EventDoc kDoc{"fault_asked", Section::kFaults, "a thread waits at an armed point"};
  std::string op;
  uint64_t comm_id = 0, seq = 0;
  int64_t step = -1;
  uint64_t nth = 0, count = 0;
  std::optional<Instant> asked_ns;
  std::optional<std::string> path, group;

  static void keys(auto&& key) {
    FaultLine::keys(key);
    key("op", &FaultAsked::op);
    key("comm_id", &FaultAsked::comm_id);
    key("seq", &FaultAsked::seq);
    key("step", &FaultAsked::step);
    key("nth", &FaultAsked::nth);
    key("count", &FaultAsked::count);
    key("asked_ns", &FaultAsked::asked_ns);
    key("path", &FaultAsked::path, "if the call has one");
    key("group", &FaultAsked::group,
        "of an upper call, which has no record (c10d over NCCL): the beginning of its group's name; comm_id "
        "and seq are "
        "those of the first call below, comm_id 0 if its communicator is not yet made");
  }
};

struct FaultIntent : FaultLine {
  static constexpr EventDoc kDoc{"fault_intent", Section::kFaults, "before rankfault acts or answers"};
  std::string what;

  static void keys(auto&& key) {
    FaultLine::keys(key);
    key("what", &FaultIntent::what);
  }
};

struct FaultAnswered : FaultLine {
  static constexpr EventDoc kDoc{"fault_answered", Section::kFaults, "rankfault answered the thread"};
  std::string answer;
  std::optional<std::string> why;

  static void keys(auto&& key) {
    FaultLine::keys(key);
    key("answer", &FaultAnswered::answer, "`go`, `no_go`, `release`");
    key("why", &FaultAnswered::why, "of `no_go`");
  }
};

struct FaultDone : FaultLine {
  static constexpr EventDoc kDoc{
      "fault_done", Section::kFaults,
      "the agent or rankfault acted. An action that needs no question (`slow_rank`) names no process"};
  std::string effect;
  std::optional<std::string> what, op, why;
  std::optional<uint64_t> comm_id, seq, firings;
  std::optional<Duration> parked_ns, held_least_ns;
  std::optional<Instant> time;
  std::optional<int64_t> arg;

  static void keys(auto&& key) {
    FaultLine::keys(key);
    key("effect", &FaultDone::effect, "`done`, `refused`, `abandoned`, `unable`, `none`");
    key("what", &FaultDone::what, "of an act of rankfault");
    key("op", &FaultDone::op, "of a thread that asked, as the next three");
    key("comm_id", &FaultDone::comm_id);
    key("seq", &FaultDone::seq);
    key("parked_ns", &FaultDone::parked_ns);
    key("firings", &FaultDone::firings, "of an action that needs no question");
    key("held_least_ns", &FaultDone::held_least_ns, "of a delay that needs no question");
    key("time", &FaultDone::time);
    key("arg", &FaultDone::arg, "of the agent's own act");
    key("why", &FaultDone::why, "of `unable`, if the agent gave a reason");
  }
};

struct FaultEffect : FaultLine {
  static constexpr EventDoc kDoc{"fault_effect", Section::kFaults, "the effect was seen"};
  std::string what;
  std::optional<std::string> helper, launcher, resource;
  std::optional<uint64_t> in_use, limit;
  std::optional<std::string> before;
  std::optional<Duration> waited_ns, took_ns;
  std::optional<int64_t> cores, busy;
  std::optional<std::string> error, path;
  std::optional<uint64_t> inode, born;
  std::optional<Instant> time;

  static void keys(auto&& key) {
    FaultLine::keys(key);
    key("what", &FaultEffect::what,
        "`ended`, `stopped`, `continued`, `helper_ended`, `helper_ended_otherwise`, `helper_lives`, "
        "`launcher_ended`, `launcher_ended_otherwise`, `launcher_lives`, `limited`, `unlimited`, "
        "`waited_for_a_core`, `segment_gone`, `segment_truncated`, `mode_changed`, `segment_left`, "
        "`segment_replaced`, `file_harmed`");
    key("helper", &FaultEffect::helper, "of `helper_...`");
    key("launcher", &FaultEffect::launcher, "of `launcher_...`");
    key("resource", &FaultEffect::resource, "of `limited`, as the next three");
    key("in_use", &FaultEffect::in_use);
    key("limit", &FaultEffect::limit);
    key("before", &FaultEffect::before);
    key("waited_ns", &FaultEffect::waited_ns, "of `waited_for_a_core`, as the next four");
    key("took_ns", &FaultEffect::took_ns);
    key("cores", &FaultEffect::cores);
    key("busy", &FaultEffect::busy, "number of busy processes");
    key("error", &FaultEffect::error, "why none was started");
    key("path", &FaultEffect::path,
        "of `mode_changed`, `segment_...` and `file_harmed`, which name no process");
    key("inode", &FaultEffect::inode, "of `file_harmed`, as the next");
    key("born", &FaultEffect::born);
    key("time", &FaultEffect::time);
  }
};

}  // namespace rankfault::events
