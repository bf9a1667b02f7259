// placeholders: the words in braces that are filled in when a command is started.
#pragma once

#include <string>
#include <vector>

#include "harness/scenario/map_reader.h"

namespace rankfault {

// bin, rank, ranks, store, tmp, attempt, scenario_dir, run
const std::vector<std::string>& placeholder_words();

// Adds a mistake for each {word} of lower-case letters in `text` that nothing would fill in. {{word}} is
// meant as it stands, and so are braces around anything else, as in JSON.
// `no_rank`: why {rank} is not filled in there; null: it is.
void check_placeholders(const std::string& text, const SourcePos& at, Problems&,
                        const char* no_rank = nullptr);
// Of a list, or of the values of a map.
void check_placeholders(const Value& texts, Problems&, const char* no_rank = nullptr);
// For what is started by this launcher.
const char* why_no_rank(LauncherKind);

}  // namespace rankfault
