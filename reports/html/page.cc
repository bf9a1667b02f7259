// page: writes the HTML report: one file that opens offline. One run fills it; several runs give an index
// page, from which each run opens.
#include "reports/html/page.h"

#include <fmt/format.h>

#include "reports/html/assets.h"
#include "reports/html/lanes.h"
#include "reports/html/run_data.h"

namespace rankfault::html {
namespace {

constexpr uint64_t kMostCalls = 1'000'000;  // in the page; each needs about ten bytes
constexpr uint64_t kFewestCalls = 64;       // of each process

constexpr const char* kPage = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '{d3_hash}' '{script_hash}'; style-src '{style_hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="rankfault">
<title>rankfault report</title>
<!-- A report of rankfault. It loads nothing from a network. It holds d3 3.5 of Mike Bostock (d3js.org), whose
     license is BSD-3-Clause:
     Copyright (c) 2010-2016, Michael Bostock. All rights reserved.
     Redistribution and use in source and binary forms, with or without modification, are permitted provided
     that the following conditions are met: Redistributions of source code must retain the above copyright
     notice, this list of conditions and the following disclaimer. Redistributions in binary form must
     reproduce the above copyright notice, this list of conditions and the following disclaimer in the
     documentation and/or other materials provided with the distribution. The name Michael Bostock may not be
     used to endorse or promote products derived from this software without specific prior written permission.
     THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED
     WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A
     PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL MICHAEL BOSTOCK BE LIABLE FOR ANY DIRECT, INDIRECT,
     INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF
     SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND
     ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR
     OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH
     DAMAGE. -->
<style>{style}</style>
</head>
<body>
<div id="page"><noscript>This report is drawn by its own script. `rankfault report RUN` prints it as text.</noscript></div>
{data}<script>{d3}</script>
<script>{script}</script>
</body>
</html>
)";

std::string data_element(const std::string& id, const Json& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, for_script(json));
}

Json without_stacks(Json run) {
  if (const auto stacks = run.find("stacks"); stacks != run.end() && !stacks->empty()) {
    run["notes"].push_back(
        fmt::format("the stacks of {} ranks are left out: the page would be too large", stacks->size()));
    *stacks = Json::array();
  }
  return run;
}

// The runs of the page. `most_calls` of each process; only the last `opened` runs have more than their row.
std::string data_of(const std::vector<RunReport>& reports, uint64_t most_calls, size_t opened, bool stacks) {
  Json rows = Json::array();
  std::string out;
  for (size_t i = 0; i < reports.size(); ++i) {
    const bool opens = i + opened >= reports.size();
    if (opens) {
      Json run = run_data(reports[i], most_calls);
      out += data_element(fmt::format("run-{}", i), stacks ? run : without_stacks(std::move(run)));
    }
    if (reports.size() == 1) break;
    rows.push_back(index_row(reports[i]));
    rows.back()["opens"] = opens;
  }
  const Json head = {{"schema", "rankfault.page.v1"},
                     {"runs", reports.size()},
                     {"bound", kLargestPage},
                     {"rows", std::move(rows)}};
  return data_element("head", head) + out;
}

std::string whole(const std::string& data) {
  const Asset css = style(), js = script(), library = d3();
  return fmt::format(fmt::runtime(kPage), fmt::arg("style", css.text), fmt::arg("style_hash", css.hash),
                     fmt::arg("script", js.text), fmt::arg("script_hash", js.hash),
                     fmt::arg("d3", library.text), fmt::arg("d3_hash", library.hash), fmt::arg("data", data));
}

Result<std::string> write_html(const std::vector<RunReport>& reports) {
  return page_of(reports, kLargestPage);
}

const Registration<Report> kHtml{
    {.name = "html",
     .summary = "One page that opens offline: timeline, findings, expectations; several runs: an index.",
     .write = write_html}};

}  // namespace

Result<std::string> page_of(const std::vector<RunReport>& reports, size_t largest) {
  if (!have_d3())
    return refused(
        "this rankfault was built without d3, which the HTML report needs: install libjs-d3 and build again");
  std::vector<const RunFacts*> runs;
  for (const RunReport& report : reports)
    if (report.facts) runs.push_back(report.facts);
  const size_t frame = whole("").size();
  const size_t fewest_opened = reports.size() == 1 ? 1 : 0;  // a page of one run shows it
  uint64_t budget = kMostCalls;
  bool stacks = true;
  for (size_t opened = reports.size();;) {
    const uint64_t most = std::max(calls_of_each(runs, budget), kFewestCalls);
    const std::string data = data_of(reports, most, opened, stacks);
    const bool least = opened == fewest_opened && most == kFewestCalls && !stacks;
    if (frame + data.size() <= largest || least) return whole(data);
    if (most > kFewestCalls)
      budget /= 2;
    else if (opened > fewest_opened)
      opened /= 2;
    else
      stacks = false;
  }
}

}  // namespace rankfault::html
