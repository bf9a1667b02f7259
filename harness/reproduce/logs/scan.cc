#include "harness/reproduce/logs/scan.h"

#include <algorithm>
#include <charconv>

#include "harness/base/printable.h"

namespace rankfault {
namespace {

constexpr size_t kLongestText = 400;
constexpr size_t kMostListed = 1 << 16;

// Interleaved writes put the message of another rank behind one: "... timing out.[rank2]:[E1128 ...".
int rank_written_before(std::string_view text, size_t at) {
  constexpr std::string_view kBegin = "[rank";
  for (size_t from = text.rfind(kBegin, at); from != std::string_view::npos && from < at;
       from = from == 0 ? std::string_view::npos : text.rfind(kBegin, from - 1)) {
    Scan scan(text, from + kBegin.size());
    const int rank = as_int(scan.number());
    if (rank >= 0 && scan.skip("]:") && scan.at() <= at) return rank;
  }
  return -1;
}

}  // namespace

bool Scan::skip(std::string_view word) {
  if (text_.compare(at_, word.size(), word) != 0) return false;
  at_ += word.size();
  return true;
}

void Scan::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

bool Scan::find(std::string_view word) {
  const size_t found = text_.find(word, at_);
  if (found == std::string_view::npos) return false;
  at_ = found + word.size();
  return true;
}

std::optional<int64_t> Scan::number() {
  int64_t value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc()) return std::nullopt;
  at_ += static_cast<size_t>(end - begin);
  return value;
}

std::string_view Scan::until(std::string_view stop) {
  const size_t found = std::min(text_.find(stop, at_), text_.size());
  const std::string_view before = text_.substr(at_, found - at_);
  at_ = std::min(found + stop.size(), text_.size());
  return before;
}

std::vector<int> Scan::ranks() {
  std::vector<int> all;
  for (;;) {
    const size_t before = at_;
    skip_blanks();
    const int first = rest().empty() || rest().front() == '-' ? -1 : as_int(number());
    if (first < 0) {
      at_ = before;
      break;
    }
    int last = first;
    if (Scan more(text_, at_); more.skip("-")) {
      last = as_int(more.number());
      if (last < first || static_cast<size_t>(last - first) > kMostListed) break;
      at_ = more.at();
    }
    for (int rank = first; rank <= last && all.size() < kMostListed; ++rank) all.push_back(rank);
    if (!skip(",")) break;
  }
  return all;
}

std::vector<size_t> places_of(std::string_view text, std::string_view word) {
  constexpr size_t kMostInLine = 64;
  std::vector<size_t> places;
  for (size_t at = text.find(word); at != std::string_view::npos && places.size() < kMostInLine;
       at = text.find(word, at + word.size()))
    places.push_back(at);
  return places;
}

int64_t number_after(std::string_view text, std::string_view key) {
  Scan scan(text);
  return scan.find(key) ? scan.number().value_or(-1) : -1;
}

int as_int(std::optional<int64_t> number, int64_t most) {
  return number && *number >= 0 && *number <= most ? static_cast<int>(*number) : -1;
}

int64_t timedelta_ms(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 40;
  Scan scan(text);
  std::optional<int64_t> hours = scan.number();
  int64_t days = 0;
  if (hours && (scan.skip(" days, ") || scan.skip(" day, "))) {
    days = *hours;
    hours = scan.number();
  }
  if (!hours || *hours < 0 || *hours > 24 || days < 0 || days > 100'000 || !scan.skip(":")) return -1;
  const int64_t minutes = scan.number().value_or(-1);
  if (minutes < 0 || minutes > 59 || !scan.skip(":")) return -1;
  const int64_t seconds = scan.number().value_or(-1);
  if (seconds < 0 || seconds > 59) return -1;
  return std::min(kMost, (((days * 24 + *hours) * 60 + minutes) * 60 + seconds) * 1000);
}

std::string message_text(std::string_view line, size_t at) {
  std::string_view text = line.substr(std::min(at, line.size()));
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > kLongestText) {
    size_t end = kLongestText;  // not within a character
    while (end > kLongestText - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string one_line(text);
  std::replace(one_line.begin(), one_line.end(), '\t', ' ');
  return printable(one_line);
}

Clue clue_at(const LogLine& line, size_t at, ClueKind kind) {
  Clue clue;
  clue.kind = kind;
  clue.line = line.number;
  clue.host = line.host;
  clue.time = line.time;
  clue.text = message_text(line.text, at);
  clue.rank = rank_written_before(line.text, at);
  if (clue.rank < 0) {
    clue.rank = line.rank;
    clue.rank_is_local = line.rank_is_local;
  }
  return clue;
}

void say_rank(Clue& clue, int rank) {
  if (rank < 0 || (clue.rank >= 0 && !clue.rank_is_local)) return;
  clue.rank = rank;
  clue.rank_is_local = false;
}

void say_status(Clue& clue, std::optional<int64_t> status) {
  constexpr int64_t kMostSignals = 64, kMostCodes = 0xffffffff;
  if (!status) return;
  if (*status < 0 && *status >= -kMostSignals)
    clue.signal = static_cast<int>(-*status);
  else if (*status >= 0 && *status <= kMostCodes / 2)
    clue.code = static_cast<int>(*status);
}

}  // namespace rankfault
