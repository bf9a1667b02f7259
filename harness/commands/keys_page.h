// keys_page: the keys of a scenario, made from the tables that read them: a list, and the tables of
// docs/reference/scenario.md.
#pragma once

#include <string>
#include <vector>

#include "harness/commands/catalogue_text.h"

namespace rankfault {

CatalogueTable all_keys();  // by path: "workload.limits.wall"

// One table for each section of the page, between the two comments that mark its place there.
std::vector<std::string> key_tables();

}  // namespace rankfault
