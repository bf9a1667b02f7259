// validate: the checks of a scenario that need the catalogues of faults and oracles.
#pragma once

#include <vector>

#include "harness/scenario/problems.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// Every mistake, in the order of the file; empty: the scenario is valid.
std::vector<Error> validate(const Scenario&);

// The same for a scenario that was just read. If parts could not be read: the mistakes in them, and those of
// each fault and each expectation by itself. The other checks would complain about the missing parts.
std::vector<Error> all_mistakes(const ParsedScenario&);

// `blamed: none` and `left_nothing: [shm]` give an oracle's first parameter without its name; afterwards the
// parameters of every known oracle are a map.
void name_lone_parameters(Scenario&);

// The ranks that a fault hits; empty when the set means nothing for a fault.
std::vector<int> victims_of(const FaultSpec&, int world_size);
// The ranks that all faults of a scenario hit, sorted.
std::vector<int> victims_of(const Scenario&);

// Parts of validate(), one file each.
void validate_faults(const Scenario&, Problems&);
void validate_expectations(const Scenario&, Problems&);
// Whether the kind or oracle exists and its parameters are valid by themselves.
bool look_up(const FaultSpec&, Problems&);
bool look_up(const ExpectationSpec&, Problems&);
void validate_variants(const Scenario&, Problems&);

}  // namespace rankfault
