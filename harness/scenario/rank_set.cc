// rank_set: reads ranks and signals as scenarios write them.
#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <charconv>

#include "harness/base/suggest.h"
#include "harness/scenario/params.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

const std::vector<std::string> kWords{"all", "victims", "others", "survivors"};

bool read_number(const std::string& text, int& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size() && out >= 0 && out < kMostRanks;
}

// Reads one rank, or a range "8-15" that includes both ends.
Status add_ranks(const Value& item, std::vector<int>& out) {
  int first = 0, last = 0;
  const size_t dash = item.text.find('-');
  if (read_number(item.text, first)) {
    out.push_back(first);
    return Done{};
  }
  if (dash != std::string::npos && read_number(item.text.substr(0, dash), first) &&
      read_number(item.text.substr(dash + 1), last)) {
    if (first > last)
      return usage_error(fmt::format("the range \"{}\" is empty: write the lower rank first", item.text),
                         item.pos);
    for (int rank = first; rank <= last; ++rank) out.push_back(rank);
    return Done{};
  }
  return usage_error(fmt::format("ranks must be a rank, a range such as 8-15, or one of all, victims, others "
                                 "and survivors, not {}{}",
                                 kind_of(item), did_you_mean(item.text, kWords)),
                     item.pos);
}

}  // namespace

Result<RankSet> read_rank_set(const Value& value) {
  RankSet out;
  out.pos = value.pos;
  for (size_t i = 0; i < kWords.size(); ++i)
    if (value.text == kWords[i]) {
      out.kind = static_cast<RankSet::Kind>(i);
      return out;
    }
  if (value.list()) {
    for (const Value& item : *value.list())
      if (Status ok = add_ranks(item, out.ranks); !ok) return ok.error();
    if (out.ranks.empty()) return usage_error("the list of ranks is empty", value.pos);
  } else if (Status ok = add_ranks(value, out.ranks); !ok) {
    return ok.error();
  }
  std::sort(out.ranks.begin(), out.ranks.end());
  out.ranks.erase(std::unique(out.ranks.begin(), out.ranks.end()), out.ranks.end());
  return out;
}

std::vector<int> resolve(const RankSet& set, int world_size, const std::vector<int>& victims) {
  std::vector<int> out;
  const auto hit = [&](int rank) { return std::find(victims.begin(), victims.end(), rank) != victims.end(); };
  switch (set.kind) {
    case RankSet::Kind::kAll:
      for (int rank = 0; rank < world_size; ++rank) out.push_back(rank);
      break;
    case RankSet::Kind::kVictims:
      out = victims;
      break;
    case RankSet::Kind::kOthers:
      for (int rank = 0; rank < world_size; ++rank)
        if (!hit(rank)) out.push_back(rank);
      break;
    case RankSet::Kind::kSurvivors:
      break;
    case RankSet::Kind::kListed:
      out = set.ranks;
      break;
  }
  return out;
}

Value to_value(const RankSet& set) {
  if (set.kind != RankSet::Kind::kListed) return text_value(kWords[static_cast<size_t>(set.kind)], set.pos);
  Value::List items;
  for (int rank : set.ranks) items.push_back(int_value(rank, set.pos));
  return list_value(std::move(items), set.pos);
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Result<int> read_signal(const Value& value) {
  std::string word = value.text;
  int number = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (status == std::errc() && end == word.data() + word.size()) {
    if (number >= 1 && number <= 31) return number;
    return usage_error(fmt::format("a signal number must be 1 to 31, not {}", word), value.pos);
  }
  if (word.rfind("SIG", 0) == 0) word.erase(0, 3);
  std::vector<std::string> names;
  for (int signal = 1; signal <= 31; ++signal)
    if (const char* name = sigabbrev_np(signal)) {
      if (word == name) return signal;
      names.push_back(fmt::format("SIG{}", name));
    }
  return usage_error(fmt::format("unknown signal {}{}", kind_of(value), did_you_mean(value.text, names)),
                     value.pos);
}

}  // namespace rankfault
