// op_names: which operations a scenario may name, and what a fault may do to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/op_names.h"

namespace rankfault {

std::optional<rf_op> op_from_word(const std::string& word);  // not "none"
const std::vector<std::string>& all_op_words();

bool is_collective_op(rf_op);  // moves data among all members, or is a barrier
bool is_p2p_op(rf_op);
bool is_mark_op(rf_op);    // made by the workload through rankfault/mark.h
bool is_file_op(rf_op);    // seen only when the libc object is preloaded
bool is_device_op(rf_op);  // of CUDA, inside NCCL or the program; seen only while an action waits for it

// Why a call of this kind cannot be skipped; "" when it can.
std::string why_not_skipped(rf_op);

// The libraries whose calls a trigger can name: "c10d", "gloo", "mpi", "nccl".
const std::vector<std::string>& library_words();
std::optional<rf_library> library_from_word(const std::string& word);

}  // namespace rankfault
