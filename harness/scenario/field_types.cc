#include "harness/scenario/field_types.h"

#include <fmt/format.h>

#include "harness/scenario/schema_shapes.h"

namespace rankfault {
namespace {

// "x" must be text, not a list
bool refuse(const Value& value, const Key& key, const char* what, Problems& problems,
            const std::string& hint = "") {
  problems.add(fmt::format("\"{}\" must be {}, not {}{}", key.name, what, kind_of(value), hint), value.pos);
  return false;
}

}  // namespace

bool read_value(const Value& value, const Key& key, std::string& out, Problems& problems) {
  if (!is_scalar(value)) return refuse(value, key, "text", problems);
  out = value.text;
  return true;
}

bool read_value(const Value& value, const Key& key, bool& out, Problems& problems) {
  const bool* yes = std::get_if<bool>(&value.data);
  if (!yes) return refuse(value, key, "true or false", problems);
  out = *yes;
  return true;
}

bool read_value(const Value& value, const Key& key, Duration& out, Problems& problems) {
  if (!is_scalar(value)) return refuse(value, key, "a duration", problems);
  Result<Duration> read = parse_duration(value.text);
  if (read)
    out = *read;
  else
    problems.add(read.error().message, value.pos);
  return read.ok();
}

bool read_value(const Value& value, const Key& key, std::vector<std::string>& out, Problems& problems) {
  if (!value.list())
    return refuse(value, key, "a list of words", problems,
                  is_scalar(value) ? ": write [a, b] (no shell reads it)" : "");
  std::vector<std::string> words;
  for (const Value& item : *value.list()) {
    if (!is_scalar(item)) {
      problems.add(fmt::format("\"{}\" must be a list of words, but one item is {}", key.name, kind_of(item)),
                   item.pos);
      return false;
    }
    words.push_back(item.text);
  }
  out = std::move(words);
  if (key.not_empty && out.empty())
    problems.add(fmt::format("\"{}\" is empty: {}", key.name, key.not_empty), value.pos);
  return true;
}

bool read_value(const Value& value, const Key& key, std::map<std::string, std::string>& out,
                Problems& problems) {
  if (!value.map()) return refuse(value, key, "a map of names and values", problems);
  for (const auto& [name, entry] : *value.map()) {
    if (entry.list() || entry.map())
      problems.add(fmt::format("\"{}\" in {} must be text, not {}", name, key.name, kind_of(entry)),
                   entry.pos);
    else
      out[name] = entry.text;
  }
  return true;
}

bool read_value(const Value& value, const Key& key, Value::Map& out, Problems& problems) {
  if (!value.map()) {
    problems.add(fmt::format("\"{}\" must be a map, such as {{workload.launcher: mpirun}}", key.name),
                 value.pos);
    return false;
  }
  out = *value.map();
  return true;
}

std::optional<int64_t> read_whole(const Value& value, const Key& key, uint64_t most_of_type,
                                  Problems& problems) {
  const int64_t* whole = std::get_if<int64_t>(&value.data);
  if (!whole) {
    refuse(value, key, "a whole number", problems);
    return std::nullopt;
  }
  const auto most = static_cast<int64_t>(std::min<uint64_t>(key.most, most_of_type));
  if (*whole >= key.least && *whole <= most) return *whole;
  problems.add(*whole < key.least
                   ? fmt::format("\"{}\" must be at least {}, not {}", key.name, key.least, *whole)
                   : fmt::format("\"{}\" must be at most {}, not {}", key.name, most, *whole),
               value.pos);
  return std::nullopt;
}

Value write_value(const std::string& text, const SourcePos& pos) { return text_value(text, pos); }
Value write_value(bool yes, const SourcePos& pos) { return bool_value(yes, pos); }
Value write_value(Duration d, const SourcePos& pos) {
  return text_value(fmt::format("{}ns", d.count()), pos);
}
Value write_value(const std::vector<std::string>& words, const SourcePos& pos) {
  return texts_value(words, pos);
}
Value write_value(const std::map<std::string, std::string>& texts, const SourcePos& pos) {
  Value out = map_value({}, pos);
  for (const auto& [name, text] : texts) set_entry(out, name, text_value(text, pos));
  return out;
}
Value write_value(const Value::Map& map, const SourcePos& pos) { return map_value(map, pos); }

Json shape_of(const std::string*, const Rules&) { return shape::scalar(); }
Json shape_of(const bool*, const Rules&) { return shape::flag(); }
Json shape_of(const Duration*, const Rules&) { return shape::ref("duration"); }
Json shape_of(const std::vector<std::string>*, const Rules& rules) {
  Json out = shape::list_of(shape::scalar());
  if (rules.not_empty) out["minItems"] = 1;
  return out;
}
Json shape_of(const std::map<std::string, std::string>*, const Rules&) {
  return shape::map_of(shape::scalar());
}
Json shape_of(const Value::Map*, const Rules&) { return shape::any_map(); }

// A bound that follows from the type alone is left out.
Json shape_of_whole(const Rules& rules) {
  Json out = shape::whole(rules.least);
  if (rules.most < std::numeric_limits<int64_t>::max()) out["maximum"] = rules.most;
  return out;
}

}  // namespace rankfault
