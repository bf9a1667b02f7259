#include "harness/commands/catalogue_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/commands/command.h"
#include "harness/commands/events_page.h"
#include "harness/commands/keys_page.h"
#include "harness/diagnose/rule.h"
#include "harness/judge/oracle.h"
#include "harness/launch/launcher.h"
#include "harness/reproduce/logs/clue.h"
#include "harness/scenario/op_names.h"
#include "reports/report.h"

namespace rankfault {
namespace {

const char* type_word(ParamType type) {
  constexpr const char* kWords[] = {"bool",     "int",   "number", "text",   "duration", "texts",
                                    "integers", "ranks", "map",    "signal", "any"};
  return kWords[static_cast<size_t>(type)];
}

Json params_json(const std::vector<ParamSpec>& params) {
  Json out = Json::array();
  for (const ParamSpec& spec : params)
    out.push_back({{"name", spec.name},
                   {"type", type_word(spec.type)},
                   {"required", spec.required},
                   {"doc", spec.doc},
                   {"choices", spec.choices}});
  return out;
}

std::string params_words(const std::vector<ParamSpec>& params) {
  std::string out;
  for (const ParamSpec& spec : params)
    out += fmt::format("{}`{}`{} ({}): {}", out.empty() ? "" : " · ", spec.name,
                       spec.required ? ", needed" : "", type_word(spec.type), spec.doc);
  return out.empty() ? "none" : out;
}

std::string code(const char* text) { return fmt::format("`{}`", text); }

CatalogueTable faults() {
  CatalogueTable out{{{"kind", "name"},
                      {"what it does", "summary"},
                      {"stands for", "stands_for"},
                      {"not the same as", "not_the_same"},
                      {"verified by", "verified_by"},
                      {"parameters", "parameters_text"},
                      {"example", "example_text"}},
                     {}};
  for (const FaultKind* kind : Catalog<FaultKind>::instance().all())
    out.rows.push_back({{"name", kind->name},
                        {"summary", kind->summary},
                        {"stands_for", kind->stands_for},
                        {"not_the_same", kind->not_the_same},
                        {"verified_by", kind->verified_by},
                        {"parameters_text", params_words(kind->params)},
                        {"example_text", code(kind->example)},
                        {"ends_ranks", kind->ends_ranks},
                        {"parameters", params_json(kind->params)}});
  return out;
}

CatalogueTable oracles() {
  CatalogueTable out{{{"oracle", "name"},
                      {"the property", "summary"},
                      {"parameters", "parameters_text"},
                      {"example", "example_text"}},
                     {}};
  for (const Oracle* oracle : Catalog<Oracle>::instance().all())
    out.rows.push_back({{"name", oracle->name},
                        {"summary", oracle->summary},
                        {"parameters_text", params_words(oracle->params)},
                        {"example_text", code(oracle->example)},
                        {"names_fault", oracle->names_fault},
                        {"parameters", params_json(oracle->params)}});
  return out;
}

CatalogueTable findings() {
  CatalogueTable out{{{"finding", "name"}, {"what it says", "summary"}}, {}};
  for (const Rule* rule : Catalog<Rule>::instance().all())
    out.rows.push_back({{"name", rule->name}, {"summary", rule->summary}});
  return out;
}

CatalogueTable launchers() {
  CatalogueTable out{{{"launcher", "name"}, {"how it starts the ranks", "summary"}}, {}};
  for (const Launcher* launcher : Catalog<Launcher>::instance().all())
    out.rows.push_back({{"name", launcher->name}, {"summary", launcher->summary}});
  return out;
}

const char* point_class(rf_op op) {
  if (is_collective_op(op)) return "collective";
  if (is_p2p_op(op)) return "message";
  if (is_mark_op(op)) return "mark of the workload (op:)";
  if (is_file_op(op)) return "file operation (file_op:)";
  if (is_device_op(op)) return "CUDA call of NCCL or the program (op:)";
  return "other call";
}

CatalogueTable points() {
  CatalogueTable out{{{"point", "name"}, {"what it is", "summary"}, {"can be skipped", "skip"}}, {}};
  for (const std::string& word : all_op_words()) {
    const rf_op op = *op_from_word(word);
    const std::string why = why_not_skipped(op);
    out.rows.push_back(
        {{"name", word}, {"summary", point_class(op)}, {"skip", why.empty() ? "yes" : "no: " + why}});
  }
  return out;
}

CatalogueTable commands() {
  CatalogueTable out{{{"command", "name"}, {"what it does", "summary"}}, {}};
  for (const CliCommand* command : Catalog<CliCommand>::instance().all())
    out.rows.push_back({{"name", command->name}, {"summary", command->summary}});
  return out;
}

CatalogueTable formats() {
  CatalogueTable out{{{"format", "name"}, {"what it is", "summary"}}, {}};
  for (const Report* report : Catalog<Report>::instance().all())
    out.rows.push_back({{"name", report->name}, {"summary", report->summary}});
  return out;
}

CatalogueTable journal_events() {
  CatalogueTable out{{{"event", "name"}, {"written", "written"}, {"keys", "keys"}}, {}};
  for (const EventPage& page : all_events())
    out.rows.push_back({{"name", page.doc.name}, {"written", page.doc.written}, {"keys", keys_text(page)}});
  return out;
}

CatalogueTable evidence() {
  CatalogueTable out{{{"evidence", "name"}, {"what reproduce reads", "summary"}}, {}};
  out.rows.push_back(
      {{"name", "run"}, {"summary", "the directory of a run that `rankfault watch` or `run` recorded"}});
  out.rows.push_back(
      {{"name", "flight_recorder"}, {"summary", "PyTorch's Flight Recorder dumps, pickle or JSON"}});
  for (const ClueReaderEntry* reader : Catalog<ClueReaderEntry>::instance().all())
    out.rows.push_back({{"name", reader->name}, {"summary", "in a log: " + reader->summary}});
  return out;
}

std::string cell(const Json& row, const std::string& key) {
  return markdown_cell(row.at(key).get<std::string>());
}

}  // namespace

std::string markdown_cell(std::string text) {
  for (size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.replace(i, 1, "\\|");
  return text;
}

const std::vector<std::string>& catalogue_names() {
  static const std::vector<std::string> names{"faults",    "oracles",  "findings", "keys",    "points",
                                              "launchers", "commands", "events",   "formats", "evidence"};
  return names;
}

CatalogueTable catalogue(const std::string& name) {
  if (name == "faults") return faults();
  if (name == "oracles") return oracles();
  if (name == "findings") return findings();
  if (name == "launchers") return launchers();
  if (name == "commands") return commands();
  if (name == "events") return journal_events();
  if (name == "formats") return formats();
  if (name == "evidence") return evidence();
  if (name == "keys") return all_keys();
  RF_ASSERT(name == "points", "catalogue_names() lists what there is");
  return points();
}

std::string as_text(const CatalogueTable& table) {
  size_t width = 0;
  for (const Json& row : table.rows)
    width = std::max(width, row.at(table.columns[0].key).get_ref<const std::string&>().size());
  std::string out;
  for (const Json& row : table.rows)
    out += fmt::format("{:<{}}  {}\n", row.at(table.columns[0].key).get<std::string>(), width,
                       row.at(table.columns[1].key).get<std::string>());
  return out;
}

std::string as_markdown(const CatalogueTable& table) {
  std::string head = "|", line = "|", out;
  for (const CatalogueColumn& column : table.columns) {
    head += fmt::format(" {} |", column.name);
    line += "---|";
  }
  out = head + "\n" + line + "\n";
  for (const Json& row : table.rows) {
    out += "|";
    for (const CatalogueColumn& column : table.columns) out += fmt::format(" {} |", cell(row, column.key));
    out += "\n";
  }
  return out;
}

}  // namespace rankfault
