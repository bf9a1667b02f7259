#include "reports/html/texts.h"

#include "harness/base/mask.h"
#include "harness/base/printable.h"

namespace rankfault::html {

std::string clean(const std::string& text) {
  std::string out = printable(masked_text(text.substr(0, 4 * kLongestText)));
  if (out.size() <= kLongestText) return out;
  size_t cut = kLongestText;
  while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  return out.substr(0, cut) + " ...";
}

uint32_t Texts::number_of(const std::string& text) {
  const auto [at, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(table_.size()));
  if (is_new) table_.push_back(clean(text));
  return at->second;
}

std::string for_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

}  // namespace rankfault::html
