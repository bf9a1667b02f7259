// MapReader: reads a map of the scenario key by key and collects every problem. At the end it reports each
// key that was not read as unknown, with the nearest known one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace rankfault {

// All mistakes of one file, in the order in which they were found.
class Problems {
 public:
  void add(std::string message, const SourcePos& where) {
    all_.push_back(usage_error(std::move(message), where));
  }
  // `where`: the place of an error that has none.
  void add(const Error& error, const SourcePos& where) {
    all_.push_back(error);
    if (all_.back().where.file.empty()) all_.back().where = where;
  }
  void warn(std::string message, const SourcePos& where) {
    warnings_.push_back(usage_error(std::move(message), where));
  }
  bool empty() const { return all_.empty(); }
  const std::vector<Error>& all() const { return all_; }
  const std::vector<Error>& warnings() const { return warnings_; }

 private:
  std::vector<Error> all_, warnings_;
};

class MapReader {
 public:
  // `owner` names the map in messages: "workload". A value that is no map is a problem.
  MapReader(const Value& value, std::string owner, Problems& problems);

  // Null when the key is absent; from then on the key is known.
  const Value* find(const std::string& key);
  const Value* need(const std::string& key);

  bool text(const std::string& key, std::string& out);
  bool flag(const std::string& key, bool& out);
  bool number(const std::string& key, int64_t& out, int64_t least, int64_t most);
  bool number(const std::string& key, int& out, int least, int most);
  bool duration(const std::string& key, Duration& out);
  bool texts(const std::string& key, std::vector<std::string>& out);
  bool text_map(const std::string& key, std::map<std::string, std::string>& out);

  // Reports the keys that were not read. Call it last.
  void finish();

  const Value& value() const { return value_; }
  const std::string& owner() const { return owner_; }
  Problems& problems() { return problems_; }

 private:
  const Value& value_;
  std::string owner_;
  Problems& problems_;
  std::vector<std::string> known_;
};

std::string unknown_key(const std::string& key, const std::string& owner,
                        const std::vector<std::string>& known);

}  // namespace rankfault
