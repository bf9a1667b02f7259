#include "harness/base/op_names.h"

#include <iterator>

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

constexpr uint32_t kDtypeBytes[] = {
#define RF_DTYPE(id, text, bytes) bytes,
#include "harness/agent/dtypes.def"
#undef RF_DTYPE
};

}  // namespace

const char* op_text(uint16_t op) { return op < RF_OP_COUNT ? kOps[op].text : "unknown operation"; }
rf_need op_need(uint16_t op) { return op < RF_OP_COUNT ? kOps[op].need : RF_NEED_UNKNOWN; }

std::optional<uint16_t> op_from_text(std::string_view text) {
  for (uint16_t i = 0; i < RF_OP_COUNT; ++i)
    if (text == kOps[i].text) return i;
  return std::nullopt;
}

const std::vector<const char*>& dtype_words() {
  static const std::vector<const char*> words{
#define RF_DTYPE(id, text, bytes) text,
#include "harness/agent/dtypes.def"
#undef RF_DTYPE
  };
  return words;
}

const std::vector<const char*>& reduce_op_words() {
  static const std::vector<const char*> words{"other", "sum", "prod", "min", "max", "avg",
                                              "land",  "lor", "band", "bor", "bxor"};
  return words;
}

const char* dtype_text(uint8_t dtype) {
  return dtype < RF_DTYPE_COUNT ? dtype_words()[dtype] : "unknown type";
}
uint32_t dtype_bytes(uint8_t dtype) { return dtype < RF_DTYPE_COUNT ? kDtypeBytes[dtype] : 0; }

const char* reduce_op_text(uint8_t reduce_op) {
  return reduce_op < reduce_op_words().size() ? reduce_op_words()[reduce_op] : "other";
}

}  // namespace rankfault
