#include "harness/launch/launchers/preload_words.h"

namespace rankfault {
namespace {

constexpr const char* kName = "LD_PRELOAD";

bool is_one_of(const std::string& word, std::initializer_list<const char*> options) {
  for (const char* option : options)
    if (word == option) return true;
  return false;
}

}  // namespace

std::optional<std::string> take_preload(std::vector<std::string>& words) {
  std::optional<std::string> value;
  std::vector<std::string> kept;
  const std::string assigned = std::string(kName) + "=";
  for (size_t i = 0; i < words.size(); ++i) {
    const bool one_more = i + 1 < words.size(), two_more = i + 2 < words.size();
    if (one_more && is_one_of(words[i], {"-x", "--x"}) &&
        (words[i + 1] == kName || words[i + 1].starts_with(assigned))) {
      if (words[i + 1] != kName) value = words[i + 1].substr(assigned.size());
      ++i;
    } else if (two_more && is_one_of(words[i], {"-genv", "--genv", "-env", "--env"}) &&
               words[i + 1] == kName) {
      value = words[i + 2];
      i += 2;
    } else {
      kept.push_back(words[i]);
    }
  }
  words = std::move(kept);
  return value;
}

}  // namespace rankfault
