// make_page: writes the HTML report of a made run, for the tests in a browser and for the benchmark.
//
// usage: make_page killed | hostile | empty | index | long RANKS CALLS
#include <fmt/format.h>

#include <cstdlib>

#include "reports/html/page.h"
#include "tests/reports/html/page_runs.h"

namespace rankfault::test {
namespace {

constexpr const char* kHostile =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&lt;<!--";

MadeRun run_of(const std::string& kind, int argc, char** argv) {
  if (kind == "hostile") return hostile_run(kHostile);
  if (kind == "long" && argc == 4) return long_run(std::atoi(argv[2]), std::atoi(argv[3]));
  if (kind == "empty") return made(std::make_unique<Facts>(0), "none");
  return killed_run();
}

int write_page(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "killed";
  const MadeRun run = run_of(kind, argc, argv);
  std::vector<RunReport> reports{run.report};
  if (kind == "index") reports.insert(reports.end(), 2, run.report);  // three runs of one scenario
  const Result<std::string> page = html::page_of(reports, html::kLargestPage);
  if (!page) {
    fmt::print(stderr, "{}\n", page.error().to_string());
    return 64;
  }
  fmt::print("{}", *page);
  return 0;
}

}  // namespace
}  // namespace rankfault::test

int main(int argc, char** argv) { return rankfault::test::write_page(argc, argv); }
