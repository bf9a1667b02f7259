#include "harness/evidence/job_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "harness/base/file_text.h"
#include "harness/base/process_tree.h"
#include "harness/base/unique_fd.h"
#include "harness/symbols/memory_map.h"

namespace rankfault {
namespace {

struct RankVariable {
  const char* rank;
  const char* size;
};
constexpr RankVariable kVariables[] = {
#define RF_LAUNCHER(rank, size, local_rank) {rank, size},
#include "harness/agent/launcher_env.def"
};

struct Candidate {
  JobRank process;
  int parent = 0;
  int world_size = 0;
  bool has_library = false;
};

std::optional<int> number_of(const std::string& environment, const char* name) {
  const std::string wanted = std::string(name) + "=";
  for (size_t at = 0; at < environment.size(); at = environment.find('\0', at) + 1) {
    if (environment.compare(at, wanted.size(), wanted) == 0) {
      const char* text = environment.c_str() + at + wanted.size();
      int value = -1;
      const auto [end, status] = std::from_chars(text, text + std::strlen(text), value);
      if (status == std::errc() && *end == 0 && value >= 0) return value;
      return std::nullopt;
    }
    if (environment.find('\0', at) == std::string::npos) break;
  }
  return std::nullopt;
}

std::string environment_of(int pid) { return text_of_file(fmt::format("/proc/{}/environ", pid)); }

bool has_communication_library(int pid) {
  MemoryMap map;
  map.read(pid);
  return std::any_of(map.all().begin(), map.all().end(), [](const Mapping& m) {
    const std::string base = m.path.substr(m.path.rfind('/') + 1);
    for (const char* library : {"libmpi", "libtorch", "libnccl", "libgloo", "libc10d"})
      if (base.rfind(library, 0) == 0) return true;
    return false;
  });
}

Status may_look_at(int pid) {
  const auto stat = proc_stat(pid);
  if (pid <= 0 || !stat) return usage_error(fmt::format("process {} does not exist", pid));
  if (stat->state == 'Z') return usage_error(fmt::format("process {} has ended already", pid));
  const UniqueFd environ(::open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  if (environ.valid() && ::read(environ.get(), &byte, 1) >= 0) return Done{};
  struct stat owner {};
  (void)::stat(fmt::format("/proc/{}", pid).c_str(), &owner);
  if (owner.st_uid != ::geteuid())
    return refused(fmt::format("process {} belongs to user {}: only that user and root may inspect it", pid,
                               owner.st_uid));
  return refused(fmt::format("process {} cannot be inspected: {}", pid, std::strerror(errno)));
}

// Returns, by rank, every process that has that number.
std::map<int, std::vector<Candidate>> candidates(const std::set<int>& pids, const RankVariable& variable) {
  std::map<int, std::vector<Candidate>> found;
  for (const int pid : pids) {
    const auto stat = proc_stat(pid);
    if (!stat || stat->state == 'Z') continue;
    const std::string environment = environment_of(pid);
    const auto rank = number_of(environment, variable.rank);
    if (!rank) continue;
    Candidate c;
    c.process = {*rank, pid, stat->start};
    c.parent = stat->parent;
    c.world_size = variable.size ? number_of(environment, variable.size).value_or(0) : 0;
    c.has_library = has_communication_library(pid);
    found[*rank].push_back(c);
  }
  return found;
}

// Returns the topmost process of those that have a library, else of all: its parent is not among them.
const Candidate& choose(const std::vector<Candidate>& all) {
  const bool some = std::any_of(all.begin(), all.end(), [](const Candidate& c) { return c.has_library; });
  for (const Candidate& c : all) {
    if (some && !c.has_library) continue;
    const bool below = std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
      return other.process.pid == c.parent && (!some || other.has_library);
    });
    if (!below) return c;
  }
  return all.front();
}

}  // namespace

Result<JobRanks> ranks_below(int pid) {
  if (Status may = may_look_at(pid); !may) return may.error();
  std::set<int> pids = descendants_of(pid);
  pids.insert(pid);
  std::map<int, std::vector<Candidate>> best;
  for (const RankVariable& variable : kVariables)
    if (auto found = candidates(pids, variable); found.size() > best.size()) best = std::move(found);
  JobRanks job;
  for (const auto& [rank, all] : best) {
    const Candidate& chosen = choose(all);
    job.ranks.push_back(chosen.process);
    job.world_size = std::max(job.world_size, chosen.world_size);
  }
  if (job.ranks.empty())
    return usage_error(
        fmt::format("neither process {} nor a descendant of it is a rank: none has RANK, "
                    "OMPI_COMM_WORLD_RANK, PMIX_RANK, "
                    "PMI_RANK or SLURM_PROCID in its environment",
                    pid));
  return job;
}

}  // namespace rankfault
