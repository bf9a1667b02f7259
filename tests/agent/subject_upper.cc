// subject_upper: behaviours that make upper calls: calls with no record that make recorded calls.
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/agent/subject.h"

namespace {

uint32_t add_world() {
  rf_comm_info info{};
  info.id = info.handle = 7;
  info.size = 4;
  info.library = RF_LIB_NCCL;
  return core().comm_add(&info);
}

const char* has_no_work(void*) { return "no work for it"; }

// What an upper call makes: like c10d, the communicator in the first call.
struct Below {
  rf_group group{"world", 4, 2, 1, RF_NO_COMM};
  uint32_t comm = RF_NO_COMM;
  int made = 0;

  int make(int calls) {
    if (comm == RF_NO_COMM) comm = add_world();
    made += calls;
    int failed = 0;
    for (int i = 0; i < calls; ++i)
      if (const int rc = recorded_call(RF_OP_ALL_REDUCE, comm); rc && !failed) failed = rc;
    return failed;
  }

  // One call of the program, with another upper call inside, as c10d's own methods use each other.
  int upper(bool can_skip) {
    rf_upper_call outer{}, inner{};
    outer.group = inner.group = &group;
    outer.call.op = inner.call.op = RF_OP_ALL_REDUCE;
    outer.call.library = inner.call.library = RF_LIB_C10D;
    outer.call.count = 5;
    if (!can_skip) outer.call.why_not_skip = has_no_work;
    int failed = 0;
    if (core().upper_begin(&outer) != RF_DO_SKIP) {
      if (core().upper_begin(&inner) == RF_DO_SKIP) std::_Exit(92);
      failed = make(2);
      core().upper_end(&inner);
    }
    core().upper_end(&outer);
    return failed;
  }
};

}  // namespace

// N upper calls with two recorded calls each. Exits with the last error, or 100 + the number of upper calls
// that were skipped.
BEHAVIOUR(upper_calls) {
  core().become_member(RF_LIB_C10D, 0, 4);
  Below below;
  const int n = std::atoi(args[0]);
  const bool can_skip = !args[1] || std::string(args[1]) != "cannot_skip";
  int failed = 0;
  for (int i = 0; i < n; ++i)
    if (const int rc = below.upper(can_skip)) failed = rc;
  const int skipped = n - below.made / 2;
  return failed ? failed : skipped ? 100 + skipped : 0;
}

// Three calls without an upper one, three upper calls, and one without.
BEHAVIOUR(upper_calls_between) {
  core().become_member(RF_LIB_C10D, 0, 4);
  Below below;
  below.make(3);
  for (int i = 0; i < 3; ++i) below.upper(true);
  below.make(1);
  return 0;
}
