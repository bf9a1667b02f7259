#include "harness/scenario/placeholders.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/suggest.h"

namespace rankfault {
namespace {

bool is_word(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

const std::vector<std::string>& placeholder_words() {
  static const std::vector<std::string> words{"bin",     "rank",         "ranks", "store", "tmp",
                                              "attempt", "scenario_dir", "run",   "python"};
  return words;
}

void check_placeholders(const std::string& text, const SourcePos& at, Problems& problems,
                        const char* no_rank) {
  const auto& known = placeholder_words();
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const size_t close = text.find('}', open);
    if (close == std::string::npos) return;
    const std::string name = text.substr(open + 1, close - open - 1);
    const bool doubled = open > 0 && text[open - 1] == '{';
    const bool shell = open > 0 && text[open - 1] == '$';
    if (no_rank && name == "rank" && !doubled && !shell)
      problems.add(fmt::format("\"{{rank}}\" has no value here: {}; write \"{{{{rank}}}}\" for the literal "
                               "text",
                               no_rank),
                   at);
    if (!is_word(name) || doubled || shell || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    problems.add(fmt::format("unknown placeholder \"{{{0}}}\"{1}; write \"{{{{{0}}}}}\" for the literal text",
                             name, did_you_mean(name, known)),
                 at);
  }
}

void check_placeholders(const Value& texts, Problems& problems, const char* no_rank) {
  if (is_scalar(texts)) check_placeholders(texts.text, texts.pos, problems, no_rank);
  if (const Value::List* items = texts.list())
    for (const Value& item : *items) check_placeholders(item.text, item.pos, problems, no_rank);
  if (const Value::Map* entries = texts.map())
    for (const auto& [key, value] : *entries) check_placeholders(value.text, value.pos, problems, no_rank);
}

void check_placeholders(const Value& map, const Keys& keys, Problems& problems, const char* no_rank) {
  for (const Key& key : keys)
    if (const Value* texts = key.placeholders ? map.find(key.name) : nullptr)
      check_placeholders(*texts, problems, no_rank);
}

const char* why_no_rank(LauncherKind launcher) {
  if (launcher == LauncherKind::kLocal) return nullptr;
  return launcher == LauncherKind::kCommand ? "the command starts all ranks"
                                            : "mpirun, torchrun and srun start all ranks with one command";
}

}  // namespace rankfault
