#include "harness/journal/journal_line.h"

#include <fmt/format.h>

#include <map>

namespace rankfault {
namespace {

// Calls `make.operator()<E>()` for each kind of event.
template <typename... Events>
void for_each_event(std::variant<std::monostate, Events...>*, auto&& make) {
  (make.template operator()<Events>(), ...);
}
constexpr AnyEvent* kAll = nullptr;

using Reader = bool (*)(const Json&, AnyEvent&, std::string& wrong);

template <typename E>
bool read_as(const Json& line, AnyEvent& to, std::string& wrong) {
  return keys_from_json(line, to.emplace<E>(), wrong);
}

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> all = [] {
    std::map<std::string, Reader> out;
    for_each_event(kAll, [&]<typename E>() { out[E::kDoc.name] = read_as<E>; });
    return out;
  }();
  return all;
}

}  // namespace

Result<JournalLine> journal_line(const Json& json) {
  const auto is = [&](const char* key, auto right) {
    return json.is_object() && json.contains(key) && right(json[key]);
  };
  const auto is_number = [](const Json& value) { return value.is_number_unsigned(); };
  if (!is("n", is_number) || !is("t", is_number) || !is("ev", [](const Json& ev) { return ev.is_string(); }))
    return refused("it has no n, t and ev");
  JournalLine line{json["n"].get<uint64_t>(), json["t"].get<Instant>(), {}};
  const std::string ev = json["ev"].get<std::string>();
  const auto reader = readers().find(ev);
  std::string wrong;
  if (reader != readers().end() && !reader->second(json, line.event, wrong))
    return refused(fmt::format("\"{}\" of its event {} has another type", wrong, ev));
  return line;
}

Json to_json(const JournalLine& line) {
  Json out{{"n", line.n}, {"t", line.t}};
  std::visit(
      [&]<typename E>(const E& event) {
        if constexpr (HasKeys<E>) {
          out["ev"] = E::kDoc.name;
          out.update(keys_to_json(event));
        }
      },
      line.event);
  return out;
}

std::vector<EventPage> all_events() {
  std::vector<EventPage> out;
  for_each_event(kAll, [&]<typename E>() {
    EventPage page{E::kDoc, {}};
    E::keys([&](const char* name, auto, const char* meaning = "") { page.keys.push_back({name, meaning}); });
    out.push_back(std::move(page));
  });
  return out;
}

}  // namespace rankfault
