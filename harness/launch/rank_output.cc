// rank_output: see rank_output.h.
#include "harness/launch/rank_output.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness/agent/agent_abi.h"
#include "harness/base/unique_fd.h"
#include "harness/launch/gather.h"

namespace rankfault {

std::vector<RankOutput> rank_outputs(const std::string& records) {
  std::vector<RankOutput> outputs;
  for (const std::string& path : files_matching(records + "/*.ring")) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    rf_header header;
    if (!fd.valid() || ::pread(fd.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
      continue;
    if (header.magic != RF_RING_MAGIC || header.abi_version != RF_ABI_VERSION || header.rank < 0) continue;
    const std::string file(header.output, ::strnlen(header.output, sizeof header.output));
    if (!file.empty()) outputs.push_back({header.rank, header.attempt, file});
  }
  return outputs;
}

}  // namespace rankfault
