#include "harness/scenario/map_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/suggest.h"
#include "harness/scenario/value.h"

namespace rankfault {

std::string unknown_key(const std::string& key, const std::string& owner,
                        const std::vector<std::string>& known) {
  if (key == "on")
    return fmt::format(
        "unknown key \"on\" (YAML 1.1 reads it as true): write when a fault fires under \"at\"");
  return fmt::format("unknown key \"{}\" in {}{}", key, owner, did_you_mean(key, known));
}

MapReader::MapReader(const Value& value, std::string owner, Problems& problems)
    : value_(value), owner_(std::move(owner)), problems_(problems) {
  if (!value.map())
    problems_.add(fmt::format("{} must be a map of keys and values, not {}", owner_, kind_of(value)),
                  value.pos);
}

const Value* MapReader::find(const std::string& key) {
  known_.push_back(key);
  return value_.find(key);
}

const Value* MapReader::need(const std::string& key) {
  const Value* value = find(key);
  if (!value && value_.map()) problems_.add(fmt::format("{} needs \"{}\"", owner_, key), value_.pos);
  return value;
}

bool MapReader::text(const std::string& key, std::string& out) {
  const Value* value = find(key);
  if (!value) return false;
  if (!is_scalar(*value)) {
    problems_.add(fmt::format("\"{}\" must be text, not {}", key, kind_of(*value)), value->pos);
    return false;
  }
  out = value->text;
  return true;
}

bool MapReader::flag(const std::string& key, bool& out) {
  const Value* value = find(key);
  if (!value) return false;
  const bool* yes = std::get_if<bool>(&value->data);
  if (!yes) {
    problems_.add(fmt::format("\"{}\" must be true or false, not {}", key, kind_of(*value)), value->pos);
    return false;
  }
  out = *yes;
  return true;
}

bool MapReader::number(const std::string& key, int64_t& out, int64_t least, int64_t most) {
  const Value* value = find(key);
  if (!value) return false;
  const int64_t* whole = std::get_if<int64_t>(&value->data);
  if (!whole) {
    problems_.add(fmt::format("\"{}\" must be a whole number, not {}", key, kind_of(*value)), value->pos);
    return false;
  }
  if (*whole < least || *whole > most) {
    problems_.add(*whole < least ? fmt::format("\"{}\" must be at least {}, not {}", key, least, *whole)
                                 : fmt::format("\"{}\" must be at most {}, not {}", key, most, *whole),
                  value->pos);
    return false;
  }
  out = *whole;
  return true;
}

bool MapReader::number(const std::string& key, int& out, int least, int most) {
  int64_t wide = 0;
  if (!number(key, wide, int64_t{least}, int64_t{most})) return false;
  out = static_cast<int>(wide);
  return true;
}

bool MapReader::duration(const std::string& key, Duration& out) {
  const Value* value = find(key);
  if (!value) return false;
  Result<Duration> read =
      is_scalar(*value) ? parse_duration(value->text)
                        : usage_error(fmt::format("\"{}\" must be a duration, not {}", key, kind_of(*value)));
  if (!read) {
    problems_.add(read.error().message, value->pos);
    return false;
  }
  out = *read;
  return true;
}

bool MapReader::texts(const std::string& key, std::vector<std::string>& out) {
  const Value* value = find(key);
  if (!value) return false;
  if (!value->list()) {
    const std::string hint = is_scalar(*value) ? ": write [a, b] (no shell reads it)" : "";
    problems_.add(fmt::format("\"{}\" must be a list of words, not {}{}", key, kind_of(*value), hint),
                  value->pos);
    return false;
  }
  std::vector<std::string> words;
  for (const Value& item : *value->list()) {
    if (!is_scalar(item)) {
      problems_.add(fmt::format("\"{}\" must be a list of words, but one item is {}", key, kind_of(item)),
                    item.pos);
      return false;
    }
    words.push_back(item.text);
  }
  out = std::move(words);
  return true;
}

bool MapReader::text_map(const std::string& key, std::map<std::string, std::string>& out) {
  const Value* value = find(key);
  if (!value) return false;
  if (!value->map()) {
    problems_.add(fmt::format("\"{}\" must be a map of names and values, not {}", key, kind_of(*value)),
                  value->pos);
    return false;
  }
  for (const auto& [name, entry] : *value->map()) {
    if (entry.list() || entry.map())
      problems_.add(fmt::format("\"{}\" in {} must be text, not {}", name, key, kind_of(entry)), entry.pos);
    else
      out[name] = entry.text;
  }
  return true;
}

void MapReader::finish() {
  if (!value_.map()) return;
  for (const auto& [key, entry] : *value_.map())
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      problems_.add(unknown_key(key, owner_, known_), entry.key);
}

}  // namespace rankfault
