// json: writes result.json of one run, or the results of several runs in one object.
#include "reports/report.h"

namespace rankfault {
namespace {

Result<std::string> write_json(const std::vector<RunReport>& reports) {
  const auto text = [](const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  if (reports.size() == 1) return text(result_json(reports.front()));
  Json runs = Json::array();
  for (const RunReport& report : reports) runs.push_back(result_json(report));
  return text({{"schema", "rankfault.results.v1"}, {"runs", std::move(runs)}});
}

const Registration<Report> kJson{
    {.name = "json", .summary = "The whole result, for machines.", .write = write_json}};

}  // namespace
}  // namespace rankfault
