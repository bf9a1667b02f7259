#include "reports/html/assets.h"

#include "page_hashes.h"
#include "reports/html/packed.h"

// Of assets.S.
extern "C" {
extern const char rankfault_page_css[], rankfault_page_css_end[];
extern const char rankfault_page_js[], rankfault_page_js_end[];
extern const char rankfault_page_d3[], rankfault_page_d3_end[];
}

namespace rankfault::html {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

std::string source_hash(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return "sha256-" + base64_of(bytes);
}

}  // namespace

bool have_d3() { return !d3().text.empty(); }
Asset style() {
  return {between(rankfault_page_css, rankfault_page_css_end), source_hash(RANKFAULT_PAGE_CSS_SHA256)};
}
Asset script() {
  return {between(rankfault_page_js, rankfault_page_js_end), source_hash(RANKFAULT_PAGE_JS_SHA256)};
}
Asset d3() {
  return {between(rankfault_page_d3, rankfault_page_d3_end), source_hash(RANKFAULT_PAGE_D3_SHA256)};
}

}  // namespace rankfault::html
