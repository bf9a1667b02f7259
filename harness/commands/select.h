// select: -k, as in pytest: words joined by "and", "or" and "not".
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

// "hang and not mpi or crash": "and" binds tighter than "or", and is implied between two words without an
// operator. A word matches any part of a text, in any case. An expression in which an operator lacks a word
// is an error.
class Selection {
 public:
  static Result<Selection> parse(const std::string& expression);
  bool matches(const std::string& text) const;

 private:
  struct Word {
    std::string text;
    bool negated = false;
  };
  std::vector<std::vector<Word>> any_of_;  // each: all of these words match
};

}  // namespace rankfault
