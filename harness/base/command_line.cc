#include "harness/base/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "harness/base/mask.h"
#include "harness/base/printable.h"

namespace rankfault {
namespace {

constexpr size_t kLongCommand = 300;

}  // namespace

std::string command_line(int pid) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
  const std::string text = fmt::format("{}", fmt::join(masked_words(words), " "));
  return printable(text.size() > kLongCommand ? text.substr(0, kLongCommand) + " ..." : text);
}

}  // namespace rankfault
