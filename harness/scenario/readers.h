// readers: one function for each part of a scenario. The parser calls them, and so does all code that
// replaces a part of a scenario (mutation checks, --set, the one-line form).
#pragma once

#include <set>

#include "harness/scenario/map_reader.h"
#include "harness/scenario/scenario.h"

namespace rankfault {

void read_workload(const Value&, Workload&, Problems&);
void read_faults(const Value&, std::vector<FaultSpec>&, Problems&);
Trigger read_trigger(const Value&, const std::string& owner, Problems&);
void read_expectations(const Value&, std::vector<ExpectationSpec>&, Problems&);
void read_bug(const Value&, LauncherKind, std::optional<Bug>&, Problems&);
void read_teeth(const Value&, LauncherKind, std::vector<Tooth>&, Problems&);
void read_variants(const Value&, LauncherKind, std::vector<Variant>&, Problems&);
void read_must_be(const Value&, MustBe&, Problems&);

// "base", else "base#2", "base#3" ...: the first that is not in `taken`; adds it there.
std::string fresh_id(const std::string& base, std::set<std::string>& taken);

// The capacity of the control page; a scenario with more of anything is refused.
inline constexpr size_t kMostItems = 256;


// Keys that every fault may have, whatever its kind; all other keys are its kind's parameters.
const std::vector<std::string>& common_fault_keys();
const std::vector<std::string>& file_op_words();
const std::vector<std::string>& need_words();
const std::vector<std::string>& launcher_words();  // in the order of LauncherKind

}  // namespace rankfault
