#include "harness/live/cuda_folder.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

namespace rankfault {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "not_computed.";  // followed by the process; the file holds one 64-bit count
                                                // (cuda_double/core)

}  // namespace

Status open_cuda_folder(const LaunchContext& context) {
  if (!context.cuda) return Done{};
  std::error_code error;
  fs::create_directories(context.cuda_folder(), error);
  return error ? Status(usage_error(context.cuda_folder() + ": " + error.message())) : Status(Done{});
}

void journal_not_computed(const LaunchContext& context, Journal& journal) {
  if (!context.cuda) return;
  std::map<int, uint64_t> counts;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(context.cuda_folder(), none)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kMark, 0) != 0) continue;
    const std::string digits = name.substr(std::string(kMark).size());
    int pid = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), pid);
    std::ifstream(entry.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(&counts[pid]), sizeof(uint64_t));
  }
  for (const auto& [pid, count] : counts)
    journal.write(events::NotComputed{.attempt = context.attempt, .pid = pid, .kernels = count});
}

}  // namespace rankfault
