#include "reports/trace/trace_writer.h"

#include "harness/base/mask.h"
#include "harness/base/printable.h"

namespace rankfault {
namespace {

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json TraceWriter::event(char phase, TraceRow row, const std::string& name) const {
  return {{"ph", std::string(1, phase)}, {"pid", row.pid}, {"tid", row.tid}, {"name", name}};
}

void TraceWriter::add(const Json& event) { events_ += (events_.empty() ? "" : ",\n") + text_of(event); }

void TraceWriter::name_process(int pid, const std::string& name, int place) {
  Json naming = event('M', {pid, 0}, "process_name");
  naming["args"] = {{"name", name}};
  add(naming);
  Json sorting = event('M', {pid, 0}, "process_sort_index");
  sorting["args"] = {{"sort_index", place}};
  add(sorting);
}

void TraceWriter::name_thread(TraceRow row, const std::string& name) {
  Json naming = event('M', row, "thread_name");
  naming["args"] = {{"name", name}};
  add(naming);
  Json sorting = event('M', row, "thread_sort_index");
  sorting["args"] = {{"sort_index", row.tid}};
  add(sorting);
}

void TraceWriter::slice(TraceRow row, const std::string& name, const char* category, Instant from, Instant to,
                        Json args) {
  Json one = event('X', row, name);
  one["cat"] = category;
  one["ts"] = microseconds(from);
  one["dur"] = static_cast<double>(std::max(lasted(from, to), Duration(1)).count()) / 1e3;
  one["args"] = std::move(args);
  add(one);
}

void TraceWriter::work(TraceRow row, const std::string& name, const char* category, Instant from, Instant to,
                       Json args) {
  const uint64_t id = ++ids_;
  for (const bool begins : {true, false}) {
    Json one = event(begins ? 'b' : 'e', row, name);
    one["cat"] = category;
    one["id"] = id;
    one["ts"] = microseconds(begins ? from : std::max(from, to));
    one["args"] = begins ? std::move(args) : Json::object();
    add(one);
  }
}

void TraceWriter::instant(TraceRow row, const std::string& name, const char* category, Instant at, char scope,
                          Json args) {
  Json one = event('i', row, name);
  one["cat"] = category;
  one["ts"] = microseconds(at);
  one["s"] = std::string(1, scope);
  one["args"] = std::move(args);
  add(one);
}

void TraceWriter::arrow(TraceRow a, Instant at_a, TraceRow b, Instant at_b, const std::string& name) {
  if (at_b < at_a) return arrow(b, at_b, a, at_a, name);
  const uint64_t id = ++ids_;
  for (const bool begins : {true, false}) {
    Json one = event(begins ? 's' : 'f', begins ? a : b, name);
    one["cat"] = "cause";
    one["id"] = id;
    one["ts"] = microseconds(begins ? at_a : at_b);
    if (!begins) one["bp"] = "e";  // it ends at the slice around it, not at the next one
    add(one);
  }
}

const std::string& TraceWriter::safe(const std::string& text) {
  const auto known = safe_.find(text);
  return known != safe_.end() ? known->second
                              : safe_.emplace(text, masked_text(printable(text))).first->second;
}

double TraceWriter::microseconds(Instant at) const {
  return static_cast<double>(lasted(begin_, at).count()) / 1e3;
}

std::string TraceWriter::take(const Json& other_data) {
  return "{\"displayTimeUnit\":\"ms\",\n\"otherData\":" + text_of(other_data) + ",\n\"traceEvents\":[\n" +
         std::move(events_) + "\n]}\n";
}

}  // namespace rankfault
