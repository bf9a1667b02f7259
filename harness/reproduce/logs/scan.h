// scan: steps over the text of a message, without regular expressions and without copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/reproduce/logs/clue.h"

namespace rankfault {

class Scan {
 public:
  explicit Scan(std::string_view text, size_t at = 0)
      : text_(text), at_(at < text.size() ? at : text.size()) {}

  size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  bool skip(std::string_view word);               // moves behind the word if it is next
  void skip_blanks();                             // blanks and tabs
  bool find(std::string_view word);               // moves behind its next occurrence; else does not move
  std::optional<int64_t> number();                // "-12"; nullopt, and no move, if it does not fit
  std::string_view until(std::string_view stop);  // the text before `stop`, or all the rest; moves behind it
  std::vector<int> ranks();                       // "1, 2, 5" and "0-3,7"; stops behind the last rank

 private:
  std::string_view text_;
  size_t at_;
};

constexpr int64_t kMostRanks = 1 << 22;

// Where the word stands in a line that interleaved writes may have glued: the first 64 places.
std::vector<size_t> places_of(std::string_view text, std::string_view word);
// The number behind the first `key` of the text; -1 without one.
int64_t number_after(std::string_view text, std::string_view key);
// Returns the number if it can be a rank, a code or a pid (0 to `most`); else -1.
int as_int(std::optional<int64_t> number, int64_t most = kMostRanks);
// "0:30:00" or "1 day, 0:30:00" of Python's timedelta; -1 if it is none.
int64_t timedelta_ms(std::string_view text);

// The message from byte `at` of the line as one printable line of at most 400 bytes.
std::string message_text(std::string_view line, size_t at);
// A clue of the message from byte `at` of the line, with the rank that the prefix before it names.
Clue clue_at(const LogLine& line, size_t at, ClueKind kind);
// The message names a rank of the world, or of a group that may be the world.
void say_rank(Clue& clue, int rank);
// An end as Python writes it: a negative status is a signal.
void say_status(Clue& clue, std::optional<int64_t> status);

}  // namespace rankfault
