// validate: what can only be said of a scenario with the catalogues of faults and oracles at hand.
#pragma once

#include <vector>

#include "harness/scenario/map_reader.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {

// Every mistake, in the order of the file; empty: the scenario makes sense.
std::vector<Error> validate(const Scenario&);

// The same of one that was just read. Where parts of it could not be: what was wrong with them, and what can
// be said of each fault and each expectation by itself. The rest would speak of what is not there.
std::vector<Error> all_mistakes(const ParsedScenario&);

// `blamed: none` and `left_nothing: [shm]` name an oracle's first parameter without saying so;
// afterwards every known oracle's parameters are a map.
void name_lone_parameters(Scenario&);

// The ranks a fault hits; empty when the set means nothing for a fault.
std::vector<int> victims_of(const FaultSpec&, int world_size);
// The ranks all faults of a scenario hit, sorted.
std::vector<int> victims_of(const Scenario&);

// Parts of validate(), one file each.
void validate_faults(const Scenario&, Problems&);
void validate_expectations(const Scenario&, Problems&);
// Whether there is such a kind or oracle, and its parameters are right: true of it alone.
bool look_up(const FaultSpec&, Problems&);
bool look_up(const ExpectationSpec&, Problems&);
void validate_variants(const Scenario&, Problems&);

}  // namespace rankfault
