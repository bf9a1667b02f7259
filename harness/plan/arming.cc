#include "harness/plan/arming.h"

#include <cstring>

#include "harness/base/assert.h"
#include "harness/plan/external_act.h"
#include "harness/scenario/op_names.h"

namespace rankfault {
namespace {

void arm_comm(const CommSelector& comm, rf_armed& out) {
  switch (comm.kind) {
    case CommSelector::Kind::kAny:
      out.comm_select = RF_COMM_ANY;
      break;
    case CommSelector::Kind::kWorld:
      out.comm_select = RF_COMM_IS_WORLD;
      break;
    case CommSelector::Kind::kSize:
      out.comm_select = RF_COMM_SIZE;
      out.comm_arg0 = static_cast<uint64_t>(comm.size);
      break;
    case CommSelector::Kind::kNamed:
      out.comm_select = RF_COMM_NAMED;
      out.comm_arg0 = rf_hash_text(comm.name->c_str());
      break;
    case CommSelector::Kind::kOrdinal:
      out.comm_select = RF_COMM_ORDINAL;
      out.comm_arg0 = static_cast<uint64_t>(comm.nth - 1);
      break;
  }
}

void arm_trigger(const Trigger& at, rf_armed& out) {
  out.attempt = at.attempt.value_or(-1);
  out.op = armed_op(at);
  out.library = library_from_word(at.library).value_or(RF_LIB_NONE);
  out.edge = at.edge == Edge::kAfter ? RF_EDGE_AFTER : RF_EDGE_BEFORE;
  arm_comm(at.comm, out);
  out.step = at.step.value_or(-1);
  out.phase = at.phase.empty() ? 0 : rf_hash_text(at.phase.c_str());
  out.mark = at.mark.empty() ? 0 : rf_hash_text(at.mark.c_str());
  out.nth = static_cast<uint64_t>(at.nth);
  RF_ASSERT(at.path.size() < RF_PATH_BYTES, "the reader of triggers refuses longer patterns");
  std::memcpy(out.path, at.path.c_str(), at.path.size() + 1);
}

void arm_arguments(const Action& action, rf_armed& out) {
  switch (action.verb) {
    case RF_VERB_DELAY:
      out.arg[0] = ns_of(action.delay);
      break;
    case RF_VERB_FAIL:
      out.arg[0] = static_cast<uint64_t>(static_cast<int64_t>(action.fail_code));
      break;
    case RF_VERB_ARG:
      out.arg[0] = static_cast<uint64_t>(action.mode);
      out.arg[1] = static_cast<uint64_t>(action.size);
      break;
    case RF_VERB_FLIP:
      out.arg[0] = static_cast<uint64_t>(action.size);
      break;
    case RF_VERB_EXIT:
      out.arg[0] = static_cast<uint64_t>(action.exit_code);
      break;
    case RF_VERB_RAISE:
      out.arg[0] = static_cast<uint64_t>(action.signal);
      break;
    default:
      break;
  }
}

bool matches_nobody(const Action& action) { return time_of(action) != ActTime::kAtGate; }

rf_armed armed_of(const Action& action) {
  rf_armed out{};
  out.id = action.id;
  out.verb = action.verb;
  out.rank = matches_nobody(action) ? kNobody : action.rank;
  arm_trigger(action.at, out);
  out.ask = action.ask ? 1 : 0;
  out.every = action.every;
  out.times = matches_nobody(action) ? 0 : action.times;
  out.after = action.after;
  out.each_attempt = action.each_attempt ? 1 : 0;
  arm_arguments(action, out);
  return out;
}

void set_op(rf_control& page, uint32_t op) { page.armed_ops[op / 64] |= uint64_t{1} << (op % 64); }

void set_ops(rf_control& page, uint32_t op) {
  if (op != RF_OP_NONE) {
    set_op(page, op);
    return;
  }
  for (uint32_t each = 0; each < RF_OP_COUNT; ++each)
    if (is_collective_op(static_cast<rf_op>(each))) set_op(page, each);
}

}  // namespace

rf_op armed_op(const Trigger& at) {
  if (!at.file_op.empty()) return op_from_word(at.file_op).value_or(RF_OP_NONE);
  if (!at.op.empty()) return op_from_word(at.op).value_or(RF_OP_NONE);
  return at.mark.empty() ? RF_OP_NONE : RF_OP_MARK;
}

void arm(const Plan& plan, int attempt, rf_control& page) {
  RF_ASSERT(plan.actions.size() <= RF_MAX_ARMED, "make_plan refuses more");
  page.armed_ops[0] = page.armed_ops[1] = 0;
  page.libc_points = 0;
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    rf_armed fresh = armed_of(plan.actions[i]);
    if (attempt > 0 && !fresh.each_attempt) {
      fresh.fired = RF_LOAD(&page.armed[i].fired);
      fresh.done = RF_LOAD(&page.armed[i].done);
    }
    page.armed[i] = fresh;
    if (fresh.rank == kNobody && time_of(plan.actions[i]) != ActTime::kNever) continue;
    set_ops(page, fresh.op);
    if (is_file_op(static_cast<rf_op>(fresh.op))) page.libc_points = 1;
  }
  RF_STORE(&page.armed_count, static_cast<uint32_t>(plan.actions.size()));
}

}  // namespace rankfault
