// program_text: writes the programs of all ranks as one text, with one line for equal calls of several ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/mask.h"
#include "harness/reproduce/replay.h"

namespace rankfault {
namespace {

constexpr int64_t kCountNotKnown = 1024;
constexpr int64_t kMostElements = int64_t{1} << 40;  // no buffer of the replaying programs is larger

std::string group_word(const std::vector<CaseGroup>& groups, int index, size_t ranks) {
  const CaseGroup& group = groups[static_cast<size_t>(index)];
  const bool first_world = std::none_of(groups.begin(), groups.begin() + index,
                                        [](const CaseGroup& g) { return g.name == "world"; });
  if (group.name == "world" && group.members.size() == ranks && first_world) return "world";
  std::string word;
  for (const char c : masked_text(group.name)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      word += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!word.empty() && word.back() != '_')
      word += '_';
  }
  while (!word.empty() && word.back() == '_') word.pop_back();
  return fmt::format("{}_{}", word.empty() ? "group" : word.substr(0, 40), index);
}

// Gloo records the size of an element, not its type.
std::string type_word(const std::string& dtype) {
  if (dtype.empty()) return "float32";
  if (dtype.starts_with("2-byte")) return "float16";
  if (dtype.starts_with("4-byte")) return "float32";
  if (dtype.starts_with("8-byte") || dtype.starts_with("16-byte")) return "float64";
  return dtype == "other" ? "uint8" : dtype;
}

std::string ranks_word(const std::vector<int>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[end]);
    i = end + 1;
  }
  return out;
}

class Text {
 public:
  explicit Text(const Replay& replay) : replay_(replay) {}

  std::string all() {
    const size_t ranks = replay_.healthy.size();
    out_ = fmt::format("ranks {}\n", ranks);
    for (size_t g = 0; g < replay_.groups.size(); ++g) {
      words_.push_back(group_word(replay_.groups, static_cast<int>(g), ranks));
      if (words_.back() != "world" && is_used(static_cast<int>(g)))
        out_ += fmt::format("group {} {}\n", words_.back(), fmt::join(replay_.groups[g].members, " "));
    }
    write();
    return out_;
  }

 private:
  bool is_used(int group) const {
    const auto uses = [&](const RankProgram& program) {
      return std::any_of(program.begin(), program.end(),
                         [&](const CaseCall& call) { return call.group == group; });
    };
    return std::any_of(replay_.healthy.begin(), replay_.healthy.end(), uses) ||
           std::any_of(replay_.diverging.begin(), replay_.diverging.end(), uses);
  }

  // Records have one part of an all_to_all and of a reduce_scatter; the text has what the rank gives.
  int64_t whole_count(const CaseCall& call) const {
    if (call.count < 0) return kCountNotKnown;
    const std::string op = plain_op(call.op);
    const bool is_part = op == "all_to_all" || op == "reduce_scatter";
    if (call.count > kMostElements) return kMostElements;
    return call.count *
           (is_part ? static_cast<int64_t>(replay_.groups[static_cast<size_t>(call.group)].members.size())
                    : 1);
  }

  std::string line_of(const CaseCall& call) const {
    if (call.op == "wait") return "wait";
    std::string op = plain_op(call.op);
    const bool message = is_message(call);
    if (call.pending) op = message ? "i" + op : op + "_async";
    const std::string& group = words_[static_cast<size_t>(call.group)];
    if (call.op == "barrier") return fmt::format("{} {}", op, group);
    std::string line = fmt::format("{} {} {} {}", op, group, type_word(call.dtype), whole_count(call));
    if (message)
      return line + fmt::format(" {} {} tag {}", call.op == "recv" ? "from" : "to", call.peer,
                                std::max(0, call.tag));
    if (!call.reduce_op.empty()) line += " " + call.reduce_op;
    const bool rooted = op.starts_with("broadcast") || op.starts_with("gather") ||
                        op.starts_with("scatter") || op == "reduce" || op == "reduce_async";
    if (rooted)
      line += fmt::format(" root {}", call.peer >= 0
                                          ? call.peer
                                          : replay_.groups[static_cast<size_t>(call.group)].members.front());
    return line;
  }

  // Ranks whose programs are equal in both forms share their lines. A rank with a `diverging` form has the
  // rest of its program twice.
  void write() {
    const size_t ranks = replay_.healthy.size();
    std::vector<std::vector<std::string>> common(ranks), healthy(ranks), diverging(ranks);
    for (size_t r = 0; r < ranks; ++r) {
      const std::vector<std::string> a = lines_of(replay_.healthy[r]), b = lines_of(replay_.diverging[r]);
      const auto split = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
      if (split.first == a.end() && split.second == b.end()) {
        common[r] = a;
        continue;
      }
      common[r].assign(a.begin(), split.first);
      healthy[r].assign(split.first, a.end());
      diverging[r].assign(split.second, b.end());
    }
    merge(common, "");
    merge(healthy, "healthy ");
    merge(diverging, "diverging ");
  }

  std::vector<std::string> lines_of(const RankProgram& program) const {
    std::vector<std::string> lines;
    for (const CaseCall& call : program) lines.push_back(line_of(call));
    return lines;
  }

  // Writes the next line of the rank that is furthest behind, for all ranks that have it next.
  void merge(const std::vector<std::vector<std::string>>& programs, const char* prefix) {
    std::vector<size_t> at(programs.size(), 0);
    while (true) {
      size_t first = programs.size();
      for (size_t r = 0; r < programs.size(); ++r)
        if (at[r] < programs[r].size() && (first == programs.size() || at[r] < at[first])) first = r;
      if (first == programs.size()) return;
      const std::string line = programs[first][at[first]];
      std::vector<int> with;
      for (size_t r = 0; r < programs.size(); ++r)
        if (at[r] < programs[r].size() && programs[r][at[r]] == line)
          with.push_back(static_cast<int>(r)), ++at[r];
      out_ += fmt::format("{}{} {}\n", prefix, ranks_word(with), line);
    }
  }

  const Replay& replay_;
  std::vector<std::string> words_;
  std::string out_;
};

}  // namespace

std::string plain_op(const std::string& op) {
  static const std::vector<std::pair<std::string, std::string>> kPlain{
      {"all_gatherv", "all_gather"},
      {"gatherv", "gather"},
      {"scatterv", "scatter"},
      {"all_to_allw", "all_to_allv"},
      {"reduce_scatter_block", "reduce_scatter"},
      {"ssend", "send"}};
  for (const auto& [own, plain] : kPlain)
    if (op == own) return plain;
  return op;
}

std::string program_text(const Replay& replay) { return Text(replay).all(); }

}  // namespace rankfault
