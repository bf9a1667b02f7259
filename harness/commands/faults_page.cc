#include "harness/commands/faults_page.h"

#include <fmt/format.h>

#include "faults/fault.h"
#include "harness/commands/catalogue_text.h"

namespace rankfault {
namespace {

std::string section_of(const FaultKind& kind, const Json& parameters) {
  std::string out = fmt::format(
      "\n### {}\n\n{}\n\n- Stands for: {}\n- Not the same as: {}\n- Verified by: {}\n- Example: `{}`\n",
      kind.name, kind.summary, kind.stands_for, kind.not_the_same, kind.verified_by, kind.example);
  if (parameters.empty()) return out + "- Parameters: none\n";
  out += "- Parameters:\n";
  for (const Json& one : parameters)
    out += fmt::format("  - `{}`{} ({}): {}\n", one.at("name").get<std::string>(),
                       one.at("required").get<bool>() ? ", needed" : "", one.at("type").get<std::string>(),
                       one.at("doc").get<std::string>());
  return out;
}

}  // namespace

std::string faults_page() {
  const CatalogueTable table = catalogue("faults");
  std::string lines = "<!-- faults -->\n| kind | what it does |\n|---|---|\n", sections;
  for (const Json& row : table.rows) {
    const std::string name = row.at("name");
    lines +=
        fmt::format("| [{0}](#{0}) | {1} |\n", name, markdown_cell(row.at("summary").get<std::string>()));
    sections += section_of(*Catalog<FaultKind>::instance().find(name), row.at("parameters"));
  }
  return lines + sections + "<!-- end -->\n";
}

}  // namespace rankfault
