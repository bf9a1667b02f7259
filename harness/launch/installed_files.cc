#include "harness/launch/installed_files.h"

#include <filesystem>

#include "harness/launch/plain_path.h"

namespace rankfault {

Result<InstalledFiles> find_installed_files(const Plan& plan, bool with_agent) {
  InstalledFiles files;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path lib = self.parent_path().parent_path() / "lib";
  files.bin_dir = self.parent_path().string();
  if (with_agent) {
    files.agent = (lib / "librankfault_agent.so").string();
    for (const std::string& extra : plan.preload)
      files.extra_preload.push_back((lib / ("librankfault_" + extra + ".so")).string());
  }
  if (!plan.scenario.workload.cuda_double) return files;
  Result<CudaDouble> cuda = choose_cuda_double(plan.scenario.workload, files.bin_dir);
  if (!cuda) return cuda.error();
  files.cuda = std::move(*cuda);
  return files;
}

Status give_plain_paths(InstalledFiles& files, const std::string& tmp) {
  const std::string lib = (std::filesystem::path(files.bin_dir).parent_path() / "lib").string();
  const Result<std::string> plain = plain_folder(lib, tmp);
  if (!plain) return plain.error();
  const auto replace = [&](std::string& path) {
    if (path.starts_with(lib + "/")) path = *plain + path.substr(lib.size());
  };
  replace(files.agent);
  for (std::string& object : files.extra_preload) replace(object);
  if (files.cuda) replace(files.cuda->library);
  if (files.cuda) replace(files.cuda->folder);
  if (files.cuda) replace(files.cuda->torch);
  return Done{};
}

}  // namespace rankfault
