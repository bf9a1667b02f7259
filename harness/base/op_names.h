// op_names: the words for operations, datatypes and reduce operations, from the tables of the agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault {

const char* op_text(uint16_t op);                             // "all_reduce"; "unknown operation"
std::optional<uint16_t> op_from_text(std::string_view text);  // also "none"
rf_need op_need(uint16_t op);                                 // who must come before a call can return

const char* dtype_text(uint8_t dtype);  // "float32"; "unknown type"
uint32_t dtype_bytes(uint8_t dtype);    // 0: unknown
const char* reduce_op_text(uint8_t reduce_op);

// By number, for those who read the words.
const std::vector<const char*>& dtype_words();
const std::vector<const char*>& reduce_op_words();

}  // namespace rankfault
