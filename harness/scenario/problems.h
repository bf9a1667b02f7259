// problems: all mistakes of one scenario file, in the order in which they were found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

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

}  // namespace rankfault
