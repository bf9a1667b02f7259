// placeholders: the words in braces that are replaced when a command is started.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/field_types.h"

namespace rankfault {

// bin, rank, ranks, store, tmp, attempt, scenario_dir, run
const std::vector<std::string>& placeholder_words();

// Adds a mistake for each {word} of lower-case letters in `text` that nothing would replace. {{word}} is
// literal, and so are braces around anything else, as in JSON. `no_rank`: why {rank} is not replaced there;
// null: it is.
void check_placeholders(const std::string& text, const SourcePos& at, Problems&,
                        const char* no_rank = nullptr);
// The same for a text, a list, or the values of a map.
void check_placeholders(const Value& texts, Problems&, const char* no_rank = nullptr);
// The same for those keys of a map that may have such words.
void check_placeholders(const Value& map, const Keys&, Problems&, const char* no_rank);
// For a command that this launcher starts.
const char* why_no_rank(LauncherKind);

}  // namespace rankfault
