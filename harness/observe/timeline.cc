// timeline: the words and needs of operations, and which process is which rank.
#include "harness/observe/timeline.h"

namespace rankfault {
namespace {

struct Op {
  const char* text;
  rf_need need;
};
constexpr Op kOps[] = {
#define RF_OP(id, text, need) {text, RF_NEED_##need},
#include "harness/agent/ops.def"
#undef RF_OP
};

struct Dtype {
  const char* text;
  uint32_t bytes;
};
constexpr Dtype kDtypes[] = {
#define RF_DTYPE(id, text, bytes) {text, bytes},
#include "harness/agent/dtypes.def"
#undef RF_DTYPE
};

constexpr const char* kReduceOps[] = {"other", "sum", "prod", "min", "max", "avg",
                                      "land",  "lor", "band", "bor", "bxor"};

}  // namespace

const CommView* ProcessView::comm(uint32_t index) const {
  for (const CommView& c : comms)
    if (c.index == index) return &c;
  return nullptr;
}

std::optional<std::vector<Event>> ProcessView::events() const {
  return source ? source->events() : std::optional(history);
}

// If several processes claim the rank: a member before a candidate, then the newest.
const ProcessView* Timeline::rank(int of_attempt, int wanted) const {
  const ProcessView* best = nullptr;
  for (const ProcessView& p : processes) {
    if (p.attempt != of_attempt || p.rank != wanted || p.helper) continue;
    const bool member = p.stage >= RF_STAGE_MEMBER;
    const bool best_member = best && best->stage >= RF_STAGE_MEMBER;
    if (!best || (member && !best_member) || (member == best_member && p.opened >= best->opened)) best = &p;
  }
  return best;
}

const char* op_text(uint16_t op) { return op < RF_OP_COUNT ? kOps[op].text : "unknown operation"; }
rf_need op_need(uint16_t op) { return op < RF_OP_COUNT ? kOps[op].need : RF_NEED_UNKNOWN; }
std::optional<uint16_t> op_from_text(std::string_view text) {
  for (uint16_t i = 0; i < RF_OP_COUNT; ++i)
    if (text == kOps[i].text) return i;
  return std::nullopt;
}
const char* dtype_text(uint8_t dtype) {
  return dtype < RF_DTYPE_COUNT ? kDtypes[dtype].text : "unknown type";
}
uint32_t dtype_bytes(uint8_t dtype) { return dtype < RF_DTYPE_COUNT ? kDtypes[dtype].bytes : 0; }
const char* reduce_op_text(uint8_t reduce_op) {
  return reduce_op < std::size(kReduceOps) ? kReduceOps[reduce_op] : "other";
}
bool is_collective(uint16_t op) { return rf_is_collective(op); }

}  // namespace rankfault
