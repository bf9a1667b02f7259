// scenario_fields: the tables of all keys of a scenario, and the parts of it that other code reads by
// themselves.
#pragma once

#include <set>

#include "harness/scenario/fields.h"

namespace rankfault {

const Fields<Scenario>& fields_of(const Scenario*);
const Fields<Workload>& fields_of(const Workload*);
const Fields<Limits>& fields_of(const Limits*);
const Fields<Markers>& fields_of(const Markers*);
const Fields<FaultSpec>& fields_of(const FaultSpec*);  // what every fault has; other keys belong to its kind
const Fields<Trigger>& fields_of(const Trigger*);
const Fields<CommSelector>& fields_of(const CommSelector*);  // as a map
const Fields<Bug>& fields_of(const Bug*);
const Fields<Tooth>& fields_of(const Tooth*);
const Fields<Variant>& fields_of(const Variant*);
const Fields<MustBe>& fields_of(const MustBe*);  // as a map

// What these types do in another way than a table does.
bool read_value(const Value&, const Key&, FormatVersion&, Problems&);
bool read_value(const Value&, const Key&, Workload&, Problems&);
bool read_value(const Value&, const Key&, std::vector<FaultSpec>&, Problems&);
bool read_value(const Value&, const Key&, RankSet&, Problems&);
bool read_value(const Value&, const Key&, Times&, Problems&);
bool read_value(const Value&, const Key&, Trigger&, Problems&);
bool read_value(const Value&, const Key&, CommSelector&, Problems&);
bool read_value(const Value&, const Key&, std::vector<ExpectationSpec>&, Problems&);
bool read_value(const Value&, const Key&, std::vector<Tooth>&, Problems&);
bool read_value(const Value&, const Key&, std::vector<Variant>&, Problems&);
bool read_value(const Value&, const Key&, MustBe&, Problems&);

Value write_value(const FormatVersion&, const SourcePos&);
Value write_value(const FaultSpec&, const SourcePos&);
Value write_value(const RankSet&, const SourcePos&);
Value write_value(const Times&, const SourcePos&);
Value write_value(const Trigger&, const SourcePos&);
Value write_value(const CommSelector&, const SourcePos&);
Value write_value(const std::vector<ExpectationSpec>&, const SourcePos&);
Value write_value(const MustBe&, const SourcePos&);

Json shape_of(const FormatVersion*, const Rules&);
Json shape_of(const RankSet*, const Rules&);
Json shape_of(const Times*, const Rules&);
Json shape_of(const Trigger*, const Rules&);
Json shape_of(const CommSelector*, const Rules&);
Json shape_of(const std::vector<ExpectationSpec>*, const Rules&);
Json shape_of(const MustBe*, const Rules&);

Trigger read_trigger(const Value&, Problems&);
void read_faults(const Value&, std::vector<FaultSpec>&, Problems&);
void read_expectations(const Value&, std::vector<ExpectationSpec>&, Problems&);

// "base", else "base#2", "base#3" ...: the first that is not in `taken`; adds it there.
std::string fresh_id(const std::string& base, std::set<std::string>& taken);
// Whether it can be part of a file name: letters, digits, dashes, underscores and `others`.
bool fits_as_name(const std::string& text, size_t longest, const std::string& others = "");

}  // namespace rankfault
