// record_names: the file names of a record folder: STEM.ring, and STEM.LN.seen for what the
// harness copied out of lane N's history before it could wrap.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/process_id.h"

namespace rankfault {

std::optional<ProcessId> process_id_from(std::string_view stem);    // "HOST.PIDNS.PID.START.IMAGE"
std::vector<std::string> ring_names_in(const std::string& folder);  // file names, sorted
std::string seen_name(const ProcessId&, uint32_t lane);

}  // namespace rankfault
