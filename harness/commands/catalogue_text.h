// catalogue_text: prints the catalogues as a table for people, as markdown for the docs, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

// "faults", "oracles" ...: what `rankfault list` lists.
const std::vector<std::string>& catalogue_names();

struct CatalogueColumn {
  std::string name;  // "stands for"
  std::string key;   // "stands_for"
};
struct CatalogueTable {
  std::vector<CatalogueColumn> columns;
  std::vector<Json> rows;  // objects: a text for each column; other keys (parameters) only for JSON
};

CatalogueTable catalogue(const std::string& name);
std::string as_text(const CatalogueTable&);      // first two columns
std::string as_markdown(const CatalogueTable&);  // all columns
// A text for a cell of a Markdown table, which a bar would end.
std::string markdown_cell(std::string text);

}  // namespace rankfault
