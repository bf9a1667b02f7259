#include "harness/launch/launchers/torchrun_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "harness/agent/torch_versions.h"
#include "harness/base/capture.h"
#include "harness/launch/launcher.h"
#include "harness/launch/torch_over_double.h"

namespace rankfault {
namespace {

// "#!/usr/bin/python3" and "#!/usr/bin/env python3" of a script; "": it names no Python.
std::string interpreter_of(const std::string& script) {
  std::ifstream in(script);
  std::string line, first, second;
  std::getline(in, line);
  if (!line.starts_with("#!")) return "";
  std::istringstream(line.substr(2)) >> first >> second;
  if (is_python(first)) return first;
  return std::filesystem::path(first).filename() == "env" && is_python(second) ? program_on_path(second) : "";
}

// The command that runs a script. Python adds the folder that it is started in to the search path of a `-c`:
// a user's re.py there would end the script.
std::vector<std::string> running(const std::string& python, const std::string& script) {
  return {python, "-c", "import sys\nsys.path[:] = [p for p in sys.path if p]\n" + script};
}

// "2.13.0+cpu", or "none" when this Python has no torch; " old" follows for a build of the older C++ ABI. A
// second line has the folder of its libraries. Does not import it, which takes seconds.
std::optional<std::string> torch_version(const std::string& python, bool& too_slow) {
  return capture(running(python,
                         "import importlib.metadata as m\n"
                         "try: torch = m.distribution('torch')\n"
                         "except m.PackageNotFoundError: print('none', end='')\n"
                         "else:\n"
                         "  config = torch.locate_file('torch/share/cmake/Torch/TorchConfig.cmake')\n"
                         "  old = config.is_file() and '_GLIBCXX_USE_CXX11_ABI=0' in config.read_text()\n"
                         "  print(torch.version + ' old' * old)\n"
                         "  print(torch.locate_file('torch/lib'), end='')"),
                 {probe_limit(), false, &too_slow});
}

// PyTorch 2.6 of Debian 13 is built without libuv, which torchrun's own store requires: no job of it starts.
// Only Debian's builds are checked, because importing PyTorch takes seconds.
bool has_no_store(const std::string& python, const std::string& version, bool& too_slow) {
  if (version.starts_with("1.") || !version.ends_with("+debian")) return false;
  const auto answer =
      capture(running(python,
                      "import torch.distributed as d\n"
                      "try: d.TCPStore('127.0.0.1', 0, is_master=True, wait_for_workers=False)\n"
                      "except RuntimeError as e: print(e, end='')"),
              {probe_limit(), false, &too_slow});
  return answer && answer->find("libuv") != std::string::npos;
}

std::string slow_text(const std::string& program) {
  return fmt::format("{} did not answer within {}: this machine is too busy to check it", program,
                     to_text(probe_limit()));
}

TorchrunProgram of_python(const std::string& python, const std::string& whose) {
  TorchrunProgram out{{python, "-m", "torch.distributed.run"}, python};
  bool too_slow = false;
  auto version = torch_version(python, too_slow);
  if (const size_t line = version ? version->find('\n') : std::string::npos; line != std::string::npos) {
    out.libraries = version->substr(line + 1);
    version->resize(line);
  }
  if (version && version->ends_with(" old")) {
    version->resize(version->size() - 4);
    out.old_abi = true;
  }
  if (too_slow)
    out.slow = slow_text(python + whose);
  else if (!version)
    out.missing = fmt::format("{}{} cannot be run", python, whose);
  else if (*version == "none")
    out.missing = fmt::format("{}{} has no torch ({})", python, whose, kHowToAddTorch);
  else if (has_no_store(python, *version, too_slow))
    out.missing = fmt::format(
        "{}{} has PyTorch {}, which was built without libuv: its torchrun cannot start ranks ({})", python,
        whose, *version, kHowToAddTorch);
  else if (too_slow)
    out.slow = slow_text(python + whose);
  else
    out.version = *version;
  return out;
}

// The torchrun on PATH: a script of the Python that has torch, or a shim of another program.
TorchrunProgram of_path(const std::string& program) {
  const std::string python = interpreter_of(program);
  if (!python.empty()) return of_python(python, ", the Python of " + program + ",");
  TorchrunProgram out{{program}};
  bool too_slow = false;
  const bool answers = capture({program, "--help"}, {probe_limit(), true, &too_slow}).has_value();
  if (too_slow)
    out.slow = slow_text(program + " --help");
  else if (!answers)
    out.missing = program + " --help fails";
  return out;
}

TorchrunProgram of_machine() {
  if (const char* given = std::getenv("RANKFAULT_PYTHON"); given && *given)
    return of_python(given, " (RANKFAULT_PYTHON)");
  if (const std::string program = program_on_path("torchrun"); !program.empty()) return of_path(program);
  if (const std::string python = program_on_path("python3"); !python.empty())
    if (TorchrunProgram found = of_python(python, ""); found.missing.empty()) return found;
  TorchrunProgram none;
  none.missing = fmt::format("torchrun is not on PATH, and python3 has no torch ({})", kHowToAddTorch);
  return none;
}

TorchrunProgram of_double() {
  if (const char* given = std::getenv("RANKFAULT_PYTHON"); given && *given)
    if (TorchrunProgram found = of_python(given, " (RANKFAULT_PYTHON)");
        !found.slow.empty() || is_cuda_torch(found.libraries))
      return found;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  const std::string python = python_over_double(own);
  return python.empty() ? of_machine() : of_python(python, "");
}

// The program that a scenario names: a torchrun, or a Python that has torch.
TorchrunProgram of_scenario(const std::string& named) {
  const std::string python = is_python(named) ? named : interpreter_of(named);
  TorchrunProgram out = python.empty() ? TorchrunProgram{} : of_python(python, "");
  if (::access(named.c_str(), X_OK) != 0)
    out.missing = fmt::format("torchrun: {}: {}", named, std::strerror(errno));
  else if (out.version.empty() && out.slow.empty())
    out.missing = fmt::format("torchrun: {} is neither a torchrun nor a Python that has torch", named);
  return out;
}

}  // namespace

bool TorchrunProgram::records_calls() const {
  return version.empty() || (!old_abi && rf_torch_is_known(rf_torch_version(version.c_str())));
}

bool is_python(const std::string& word) {
  return std::regex_match(std::filesystem::path(word).filename().string(), std::regex("python[0-9.]*"));
}

bool is_script_of_python(const std::string& program) {
  return is_python(program) || !interpreter_of(program).empty();
}

const TorchrunProgram& torchrun_program(const Workload& workload) {
  static std::map<std::string, TorchrunProgram> known;
  std::string asked = workload.torchrun + (workload.cuda_double ? "\ndouble" : "");
  for (const char* name : {"RANKFAULT_PYTHON", "PATH"})
    asked += std::string("\n") + (std::getenv(name) ? std::getenv(name) : "");
  const auto found = known.find(asked);
  if (found != known.end()) return found->second;
  TorchrunProgram program = !workload.torchrun.empty() ? of_scenario(workload.torchrun)
                            : workload.cuda_double     ? of_double()
                                                       : of_machine();
  static TorchrunProgram slow;
  return program.slow.empty() ? known[asked] = std::move(program) : slow = std::move(program);  // asked again
                                                                                                // next time
}

}  // namespace rankfault
