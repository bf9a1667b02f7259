// version_mismatch: members of one NCCL communicator have loaded different versions of NCCL. NCCL refuses
// this if it can still read the other's message; if it cannot, no rank gets an error.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/diagnose/model/words.h"
#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

using ByVersion = std::map<uint32_t, std::vector<int>>;

uint32_t nccl_of(const Process& p) {
  for (const Coverage& c : p.view->coverage)
    if (c.library == RF_LIB_NCCL) return c.version;
  return 0;
}

std::string text_of(uint32_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// A communicator on which an operation completed works, whatever versions its members report.
bool has_worked(const CommGroup& group) {
  return std::any_of(group.members.begin(), group.members.end(), [](const Member& m) {
    return std::any_of(m.calls.begin(), m.calls.end(), [](const Call* c) { return c->succeeded(); });
  });
}

ByVersion versions_of(const CommGroup& group) {
  ByVersion out;
  for (const Member& m : group.members)
    if (const uint32_t version = m.process ? nccl_of(*m.process) : 0; version != 0)
      out[version].push_back(m.process->rank());
  return out;
}

// Returns the ranks that do not have the most common version; none if no version is the most common.
std::vector<int> odd_ranks(const ByVersion& versions) {
  size_t most = 0, with_most = 0;
  for (const auto& [version, ranks] : versions) most = std::max(most, ranks.size());
  std::vector<int> odd;
  for (const auto& [version, ranks] : versions)
    if (ranks.size() == most)
      ++with_most;
    else
      odd.insert(odd.end(), ranks.begin(), ranks.end());
  return with_most == 1 ? sorted_unique(odd) : std::vector<int>{};
}

Finding tell(const JobView& job, const CommGroup& group, const ByVersion& versions) {
  Finding f;
  f.kind = "version_mismatch";
  f.attempt = job.attempt();
  f.ranks = odd_ranks(versions);
  f.op = op_text(RF_OP_COMM_CREATE);
  set_comm(f, group);
  std::string who;
  for (const auto& [version, ranks] : versions) {
    const std::string has = fmt::format("{} {} NCCL {}", ranks_text(sorted_unique(ranks)),
                                        ranks.size() == 1 ? "has" : "have", text_of(version));
    who += (who.empty() ? "" : ", ") + has;
    f.evidence.push_back(has);
    f.sides.push_back({sorted_unique(ranks), f.op, "NCCL " + text_of(version), ""});
  }
  for (const Member& m : group.members)  // known when the second version was there
    if (m.process) f.at = std::max(f.at, m.process->view->member);
  f.text = fmt::format("{} in one communicator; NCCL requires one version", who);
  return f;
}

std::vector<Finding> look(const JobView& job, const DiagnoseOptions&) {
  for (const CommGroup& group : job.comms()) {
    if (group.library != RF_LIB_NCCL || has_worked(group)) continue;
    const ByVersion versions = versions_of(group);
    if (versions.size() > 1)
      return {tell(job, group, versions)};  // more groups would give the same finding again
  }
  return {};
}

const Registration<Rule> kRule{{
    .name = "version_mismatch",
    .summary = "members of one NCCL communicator use different NCCL versions",
    .look = look,
    .proof = "Never proven.",
    .example = "rank 1 has NCCL 2.22.3, the others 2.29.7",
    .next = "Compare LD_LIBRARY_PATH and the Python environments of the ranks.",
    .traits = {.precedence = 70},
}};

}  // namespace
}  // namespace rankfault
