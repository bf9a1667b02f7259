// trace_rules: see trace_rules.h.
#include "tests/reports/trace_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace rankfault::test {
namespace {

using Row = std::pair<int64_t, int64_t>;
using Span = std::pair<double, double>;

Row row_of(const Json& event) { return {event["pid"].get<int64_t>(), event["tid"].get<int64_t>()}; }

class Rules {
 public:
  std::string mistake(const Json& events) {
    for (const Json& event : events)
      if (std::string why = one(event); !why.empty()) return why + ": " + event.dump();
    for (auto& [row, spans] : slices_)
      if (std::string why = nesting(spans); !why.empty()) return why;
    for (const auto& [row, name] : used_)
      if (!named_.count(row)) return "a row without a name: " + name;
    for (const auto& [id, arrow] : arrows_)
      if (std::string why = arrow_mistake(arrow); !why.empty()) return why;
    for (const auto& [id, phases] : work_)
      if (phases != "be") return "work that does not begin and end once: " + phases;
    return "";
  }

 private:
  std::string one(const Json& event) {
    for (const char* key : {"ph", "pid", "tid", "name"})
      if (!event.contains(key)) return std::string("no ") + key;
    if (!event["pid"].is_number_integer() || !event["tid"].is_number_integer()) return "no number";
    const std::string phase = event["ph"];
    if (phase == "M") return metadata(event);
    if (!event.contains("ts") || !event["ts"].is_number() || event["ts"] < 0) return "a bad time";
    used_.emplace(row_of(event), event["name"].get<std::string>());
    const double at = event["ts"].get<double>();
    if (phase == "X") {
      if (!event.contains("dur") || event["dur"] <= 0) return "a slice that does not last";
      slices_[row_of(event)].emplace_back(at, at + event["dur"].get<double>());
      return "";
    }
    if (phase == "i") {
      const std::string scope = event.value("s", "");
      return scope == "g" || scope == "p" || scope == "t" ? "" : "a bad scope";
    }
    if (!event.contains("id") || !event.contains("cat")) return "no id or cat";
    if (phase == "b" || phase == "e") {
      work_[event["id"].get<int64_t>()] += phase;
      return "";
    }
    if (phase == "f" && event.value("bp", "") != "e") return "an arrow to the next slice";
    if (phase == "s" || phase == "f") {
      arrows_[event["id"].get<int64_t>()].emplace_back(phase, row_of(event), at);
      return "";
    }
    return "unknown phase";
  }

  std::string metadata(const Json& event) {
    static const std::set<std::string> kNames{"process_name", "process_sort_index", "thread_name",
                                              "thread_sort_index"};
    if (!kNames.count(event["name"])) return "unknown metadata";
    if (event["name"] == "thread_name") named_.insert(row_of(event));
    const char* key = event["name"].get<std::string>().ends_with("_name") ? "name" : "sort_index";
    return event["args"].contains(key) ? "" : "metadata without its value";
  }

  // Two slices of a row are one behind the other, or one inside the other. Times are rounded to a nanosecond.
  static std::string nesting(std::vector<Span>& spans) {
    constexpr double kRounding = 0.0015;
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> open;
    for (const Span& span : spans) {
      while (!open.empty() && open.back() <= span.first + kRounding) open.pop_back();
      if (!open.empty() && span.second > open.back() + kRounding) return "slices that overlap";
      open.push_back(span.second);
    }
    return "";
  }

  struct End {
    std::string phase;
    Row row;
    double at;
    End(std::string p, Row r, double t) : phase(std::move(p)), row(r), at(t) {}
  };
  std::string arrow_mistake(const std::vector<End>& ends) {
    if (ends.size() != 2 || ends[0].phase != "s" || ends[1].phase != "f") return "an arrow without two ends";
    if (ends[0].at > ends[1].at) return "an arrow into the past";
    for (const End& end : ends)
      if (std::none_of(slices_[end.row].begin(), slices_[end.row].end(),
                       [&](const Span& span) { return span.first <= end.at && end.at <= span.second; }))
        return "an arrow without a slice";
    return "";
  }

  std::map<Row, std::vector<Span>> slices_;
  std::map<Row, std::string> used_;
  std::set<Row> named_;
  std::map<int64_t, std::string> work_;
  std::map<int64_t, std::vector<End>> arrows_;
};

}  // namespace

std::string trace_mistake(const Json& trace) {
  if (!trace.is_object() || !trace.contains("traceEvents")) return "no events";
  if (trace.value("displayTimeUnit", "") != "ms") return "no unit";
  if (!trace.contains("otherData") || !trace["otherData"].contains("left_out"))
    return "no count of what is left out";
  return Rules().mistake(trace["traceEvents"]);
}

}  // namespace rankfault::test
