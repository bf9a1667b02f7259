// stacks_text: what the ranks were doing while the job hung, for people. Ranks that did the same share a
// block.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/printable.h"
#include "harness/base/rank_words.h"
#include "harness/evidence/calls.h"
#include "reports/words.h"

namespace rankfault {
namespace {

struct Block {
  std::vector<int> ranks, pids;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const std::vector<RankEvidence>& evidence) {
  std::vector<Block> blocks;
  for (const RankEvidence& rank : evidence) {
    std::vector<std::string> lines = short_evidence(rank);
    auto same = std::find_if(blocks.begin(), blocks.end(), [&](const Block& b) { return b.lines == lines; });
    if (same == blocks.end()) same = blocks.insert(blocks.end(), Block{{}, {}, std::move(lines)});
    same->ranks.push_back(rank.rank);
    same->pids.push_back(rank.pid);
  }
  return blocks;
}

std::string notes_text(const std::vector<RankEvidence>& evidence) {
  std::string out;
  for (const std::string& note : notes_of(evidence)) out += fmt::format("  note    {}\n", note);
  return out;
}

}  // namespace

std::string evidence_text(const std::vector<RankEvidence>& evidence) {
  constexpr size_t kPids = 8;
  std::string out;
  for (const Block& block : blocks_of(evidence)) {
    out += fmt::format("  {:<8}", ranks_text(block.ranks));
    if (block.pids.size() <= kPids)
      out +=
          fmt::format(" {} {}", block.pids.size() == 1 ? "process" : "processes", fmt::join(block.pids, " "));
    out += "\n";
    for (const std::string& line : block.lines) out += fmt::format("          {}\n", line);
  }
  return inert_text(out + notes_text(evidence));
}

std::string evidence_summary(const std::vector<RankEvidence>& evidence) {
  constexpr size_t kBlocks = 4;
  const std::vector<Block> blocks = blocks_of(evidence);
  std::string out;
  size_t more = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& lines = blocks[i].lines;
    if (i >= kBlocks || lines.empty()) {
      more += blocks[i].ranks.size();
      continue;
    }
    out += fmt::format("  {:<8}{}", ranks_text(blocks[i].ranks), " " + lines[0]);
    if (lines.size() > 1 && lines[1].starts_with("  ")) out += fmt::format(", {}", lines[1].substr(2));
    out += "\n";
  }
  if (more) out += fmt::format("  stacks  of {} more rank{}\n", more, more == 1 ? "" : "s");
  return inert_text(out + notes_text(evidence));
}

}  // namespace rankfault
