#include "harness/base/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <random>

namespace rankfault {
namespace {

constexpr size_t kNumberDigits = 8;  // of a comparable mask

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
bool is_of_name(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// "apiKey", "APIKey", "s3Key": a word begins at K.
bool begins_word(std::string_view name, size_t i) {
  const char before = name[i - 1], here = name[i];
  if (is_digit(before) != is_digit(here)) return is_digit(before);
  if (is_lower(before) && is_upper(here)) return true;
  return is_upper(before) && is_upper(here) && i + 1 < name.size() && is_lower(name[i + 1]);
}

// PGPASSWORD, authtoken: words without a separator.
bool ends_in_secret(const std::string& part) {
  static constexpr std::array<std::string_view, 6> kEnds{"password", "passwd",    "passphrase",
                                                         "secret",   "secretkey", "token"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return part.ends_with(end); });
}

bool is_secret_part(std::string part) {
  while (!part.empty() && is_digit(part.back())) part.pop_back();
  static constexpr std::array<std::string_view, 7> kSecret{"secret", "token",      "key",   "password",
                                                           "passwd", "passphrase", "apikey"};
  return std::any_of(kSecret.begin(), kSecret.end(),
                     [&](std::string_view word) {
                       return part == word || (part.size() == word.size() + 1 && part.back() == 's' &&
                                               part.starts_with(word));
                     }) ||
         ends_in_secret(part);
}

// Most texts contain no such word and need no further check.
bool may_hold_secret(std::string_view text) {
  for (const std::string_view stem : {"secret", "token", "key", "pass"}) {
    const auto at = std::search(text.begin(), text.end(), stem.begin(), stem.end(),
                                [](char a, char b) { return lower(a) == b; });
    if (at != text.end()) return true;
  }
  return false;
}

bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

// Whether the text is "--" or begins with that word.
bool is_end_of_options(std::string_view text) {
  return text.starts_with("--") && (text.size() == 2 || is_blank(text[2]));
}

bool gives_variable(std::string_view word) {  // for hydra: the name and the value are separate words
  return word == "-env" || word == "--env" || word == "-genv" || word == "--genv";
}

// Returns the end of the value that begins at `at`. `around`: the quote before its name, else 0.
size_t end_of_value(const std::string& text, size_t at, bool of_entry, char around) {
  if (at < text.size() && is_quote(text[at])) {
    const size_t close = text.find(text[at], at + 1);
    return close == std::string::npos ? text.size() : close + 1;
  }
  if (at < text.size() && text[at] == '[') {
    const size_t close = text.find(']', at);
    return close == std::string::npos ? text.size() : close + 1;
  }
  if (of_entry && around) return std::min(text.find(around, at), text.size());
  if (of_entry) return std::min(text.find_first_of("\n,}", at), text.size());
  while (at < text.size() && !is_blank(text[at]) && !is_quote(text[at])) ++at;
  return at;
}

size_t skip_blanks(const std::string& text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// Whether the name is a key in a YAML map, or a quoted header: it is the first word of its line, or follows a
// brace or a quote. In "a wrong key: x" it is neither.
bool begins_entry(const std::string& text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || std::string_view("\n{,-\"'").find(text[at - 1]) != std::string_view::npos;
}

// Returns the begin of the value of the secret name in [from, to); 0: it has none.
size_t begin_of_value(const std::string& text, size_t from, size_t to) {
  if (to >= text.size()) return 0;
  if (text[to] == '=') return to + 1;
  if (text.compare(to, 2, ": ") == 0 && begins_entry(text, from)) return skip_blanks(text, to + 1);
  if (from > 0 && is_quote(text[from - 1]) && text[to] == text[from - 1]) {
    const size_t colon = skip_blanks(text, to + 1);
    if (colon >= text.size() || text[colon] != ':') return 0;
    return skip_blanks(text, colon + 1);
  }
  if (!is_option(std::string_view(text).substr(from, to - from)) || !is_blank(text[to])) return 0;
  const size_t next = skip_blanks(text, to);
  return is_end_of_options(std::string_view(text).substr(next)) ? 0 : next;
}

// Appends to `out` the text after the secret name in [from, to), with its value hidden; returns the end of
// the value. A hidden option that itself names a secret also hides the next value.
size_t hide_value(const std::string& text, size_t from, size_t to, std::string& out) {
  for (bool again = true; again;) {
    const size_t begin = begin_of_value(text, from, to);
    const char around = from > 0 && is_quote(text[from - 1]) ? text[from - 1] : 0;
    const size_t end = begin ? end_of_value(text, begin, text[to] == ':', around) : 0;
    if (end <= begin) return to;
    out.append(text, to, begin - to).append(kMasked);
    const std::string_view hidden = std::string_view(text).substr(begin, end - begin);
    again =
        is_option(hidden) && std::all_of(hidden.begin(), hidden.end(), is_of_name) && names_secret(hidden);
    from = begin;
    to = end;
  }
  return to;
}

bool is_comparable_mask(std::string_view text) {
  return text.size() == kMasked.size() + kNumberDigits && text.starts_with(kMasked) &&
         text.find_first_not_of("0123456789abcdef", kMasked.size()) == std::string_view::npos;
}

}  // namespace

bool names_secret(std::string_view name) {
  std::string part;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool breaks = !is_alnum(name[i]) || (i > 0 && begins_word(name, i));
    if (breaks && is_secret_part(part)) return true;
    if (breaks) part.clear();
    if (is_alnum(name[i])) part += lower(name[i]);
  }
  return is_secret_part(part);
}

std::string masked_value(const std::string& name, const std::string& value) {
  return names_secret(name) ? std::string(kMasked) : masked_text(value);
}

std::string comparable_mask(const std::string& value) {
  static const uint64_t seed = std::random_device()() * 0x100000001ull + std::random_device()();
  uint64_t number = seed;
  for (const char c : value) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return fmt::format("{}{:08x}", kMasked,
                     static_cast<uint32_t>(number >> 32) ^ static_cast<uint32_t>(number));
}

std::vector<std::string> masked_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool hide = false;  // this word is the value of the previous one
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool plain = std::all_of(name.begin(), name.end(), is_of_name);
    const bool secret = plain && names_secret(name);
    if (hide && !is_end_of_options(word))
      out.emplace_back(kMasked);
    else if (secret && equals != std::string::npos)
      out.push_back(name + "=" + std::string(kMasked));
    else
      out.push_back(masked_text(word));
    const bool is_name = is_option(word) || (i > 0 && gives_variable(words[i - 1]));
    hide = secret && is_name && equals == std::string::npos;
  }
  return out;
}

std::string masked_text(const std::string& text) {
  if (!may_hold_secret(text)) return text;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out.append(text, at, end - at);
    const bool is_secret = names_secret(std::string_view(text).substr(at, end - at));
    at = is_secret ? hide_value(text, at, end, out) : end;
  }
  return out;
}

void mask(Json& json) {
  if (json.is_string()) {
    auto& text = json.get_ref<std::string&>();
    if (may_hold_secret(text)) text = masked_text(text);
  } else if (json.is_object()) {
    for (auto& [key, value] : json.items())
      if (value.is_string() && names_secret(key)) {
        if (!is_comparable_mask(value.get_ref<std::string&>())) value = kMasked;
      } else if (value.is_array() && names_secret(key)) {
        for (Json& item : value) item = kMasked;
      } else {
        mask(value);
      }
  } else if (json.is_array()) {
    const auto is_text = [](const Json& item) { return item.is_string(); };
    if (!json.empty() && std::all_of(json.begin(), json.end(), is_text))
      json = masked_words(json.get<std::vector<std::string>>());
    else
      for (Json& item : json) mask(item);
  }
}

Json masked(Json json) {
  mask(json);
  return json;
}

}  // namespace rankfault
