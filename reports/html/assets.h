// assets: the files of the page that the build puts into the program: style, script and d3.
#pragma once

#include <string>
#include <string_view>

namespace rankfault::html {

struct Asset {
  std::string_view text;
  std::string hash;  // for a Content-Security-Policy: "sha256-..."
};

bool have_d3();  // false: libjs-d3 was missing when this program was built
Asset style();
Asset script();
Asset d3();

}  // namespace rankfault::html
