// rankfault doctor: reports what rankfault can use on this machine, and which calls of a program it can see.
// It does not start the program.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness/commands/command.h"
#include "harness/evidence/python_stacks.h"
#include "harness/launch/launcher.h"
#include "harness/launch/launchers/torchrun_program.h"
#include "harness/launch/plain_path.h"
#include "harness/launch/torch_over_double.h"
#include "harness/symbols/dynamic_names.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string program;
  bool all = false;
};

std::string bin_dir() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

void say(const char* what, const std::string& text) { fmt::print("{:<10} {}\n", what, text); }

void machine() {
  utsname host{};
  ::uname(&host);
  struct statvfs shm {};
  const bool there = ::statvfs("/dev/shm", &shm) == 0;
  say("machine",
      fmt::format("{} cores, {} {}, {}; /dev/shm: {}", ::sysconf(_SC_NPROCESSORS_ONLN), host.sysname,
                  host.release, ::geteuid() == 0 ? "root" : "not root",
                  there ? fmt::format("{} MB free", (shm.f_bavail * shm.f_bsize) >> 20) : "missing"));
}

void launchers() {
  const char* title = "launchers";
  for (const Launcher* launcher : Catalog<Launcher>::instance().all()) {
    const Status there = launcher->probe({});
    say(title, fmt::format("{}: {}", launcher->name,
                           there ? "ready: " + launcher->found({}) : there.error().message));
    title = "";
  }
}

void agent(const std::string& lib) {
  std::vector<std::string> decoders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(lib + "/decoders", none))
    if (entry.path().extension() == ".so") decoders.push_back(entry.path().stem().string());
  std::sort(decoders.begin(), decoders.end());
  const std::string path = lib + "/librankfault_agent.so";
  const bool there = fs::exists(path, none);
  say("agent", there ? fmt::format("{}; reads {}", path, fmt::join(decoders, ", ")) : "not built");
  if (there && !is_plain_path(lib))
    say("",
        "LD_PRELOAD is split at the blank, colon or semicolon in that path: each run gives its job a link "
        "to it, in a temporary folder");
}

// Reads a list of the build with one "GPULESS_NOT_MODELLED(cudaGraphCreate)" a line: the functions that
// CUDA's header declares and the double does not model.
std::vector<std::string> not_modelled(const std::string& list) {
  std::vector<std::string> names;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);)
    if (const size_t open = line.find('('), close = line.find(')'); open != std::string::npos && close > open)
      names.push_back(line.substr(open + 1, close - open - 1));
  return names;
}

// Without py-spy, a PyTorch rank that hangs outside a call has no line of its script.
void python_frames() {
  const std::string program = find_py_spy();
  say("py-spy", program.empty()
                    ? "not found: `pip install py-spy`, or set RANKFAULT_PYSPY; without it, a Python rank "
                      "that hangs outside a call has no source line"
                    : program);
}

// The PyTorch with CUDA that a job over the double would get: whether it runs there, and whether its calls
// can be skipped.
void torch_over_double(const std::string& lib) {
  Workload workload;
  workload.ranks = 1;
  workload.cuda_double = true;
  const TorchrunProgram& torch = torchrun_program(workload);
  const Result<CudaDouble> cuda = choose_cuda_double(workload, bin_dir());
  if (!cuda || !is_cuda_torch(torch.libraries)) {
    say("", "PyTorch's nccl backend over it: no PyTorch with CUDA is found (to add it: ./dev torch-nccl)");
    return;
  }
  const Status runs = check_torch_over_double(*cuda, {torch.version, torch.python, torch.libraries}, {});
  say("", runs ? fmt::format("PyTorch's nccl backend over it: {}, PyTorch {}", torch.python, torch.version)
               : "PyTorch's nccl backend over it: " + runs.error().message);
  const std::string release = torch.version.substr(0, torch.version.find('+'));
  const std::string work = "lib/decoders/completed_work/" + release + ".so";
  std::error_code none;
  say("", fs::exists(fs::path(lib).parent_path() / work, none)
              ? fmt::format("a completed work for PyTorch {}: {}: its calls on nccl can be skipped", release,
                            work)
              : fmt::format(
                    "no completed work for PyTorch {}: a skip of its calls on nccl has no effect (to add it: "
                    "./dev torch-nccl)",
                    release));
}

void cuda(const std::string& lib, bool all) {
  say("cuda",
      ::access("/dev/nvidiactl", F_OK) == 0 ? "this machine has a GPU driver" : "this machine has no GPU");
  const std::vector<std::string> built = nccl_over_double(bin_dir());
  say("", built.empty() ? "a double of CUDA for NCCL: not built (to add it: ./dev nccl)"
                        : fmt::format("a double of CUDA, not a GPU, under NCCL {}", fmt::join(built, ", ")));
  if (!built.empty()) torch_over_double(lib);
  for (const char* runtime : {"libcudart.so.12", "libcudart.so.13"}) {
    const std::string path = lib + "/cuda_double/" + runtime;
    const auto names = all ? dynamic_names(path) : std::nullopt;
    if (!names) continue;
    const std::vector<std::string> lacking = not_modelled(path + ".not_modelled");
    say("", fmt::format("{}: {} functions are modelled; {} print their name and return \"not supported\":",
                        runtime, names->given.size() - lacking.size(), lacking.size()));
    say("", fmt::format("  {}", fmt::join(lacking, " ")));
  }
}

struct Library {
  const char* name;
  const char* file;      // how its name begins
  const char* function;  // exported by each object that contains the library
  const char* text;      // a text that every build of it contains; "": none is known
};
constexpr Library kLibraries[] = {
    {"MPI", "libmpi", "MPI_Init", ""},
    {"NCCL", "libnccl.so", "ncclAllReduce", "NCCL WARN"},
    {"CUDA runtime", "libcudart.so", "cudaMalloc", "cudaErrorInvalidDeviceFunction"}};

std::string reach_of(const Library& library, const std::string& path, const DynamicNames& names) {
  const auto needed = std::find_if(names.needed.begin(), names.needed.end(),
                                   [&](const std::string& n) { return n.rfind(library.file, 0) == 0; });
  if (needed != names.needed.end()) return fmt::format("{}, shared: its calls are recorded", *needed);
  // The loader searches the program before preloaded objects.
  if (names.given.count(library.function)) return "in the program itself: its calls are not recorded";
  if (*library.text && file_has_text(path, library.text))
    return "linked in statically: its calls are not recorded";
  return "";
}

int program(const std::string& word) {
  const std::map<std::string, std::string> env{{"PATH", std::getenv("PATH") ? std::getenv("PATH") : ""}};
  if (const Status runs = check_program(word, env, "", true); !runs) {
    say("program", runs.error().message);
    return kExitUsage;
  }
  const std::string path = path_of(word, env, "");
  say("program", path + ": the agent can be loaded into it");
  const auto names = dynamic_names(path);
  if (!names) {
    say("", "a script: what it loads is known only when it runs");
    return kExitPass;
  }
  bool any = false;
  for (const Library& library : kLibraries)
    if (const std::string reach = reach_of(library, path, *names); !reach.empty()) {
      say("", fmt::format("{}: {}", library.name, reach));
      any = true;
    }
  if (!any)
    say("", "none of MPI, NCCL and CUDA is linked to it; what its libraries load is known only when it runs");
  const std::vector<std::string> built = nccl_over_double(bin_dir());
  if (built.empty()) return kExitPass;
  Workload alone;
  alone.ranks = 1;
  const Result<CudaDouble> cuda = choose_cuda_double(alone, bin_dir());
  if (const Status fits = check_cuda_double(*cuda, alone, path); !fits)
    say("", "not over the double of CUDA: " + fits.error().message);
  return kExitPass;
}

int doctor(const Options& options) {
  const std::string lib = (fs::path(bin_dir()).parent_path() / "lib").string();
  machine();
  launchers();
  agent(lib);
  python_frames();
  cuda(lib, options.all);
  return options.program.empty() ? kExitPass : program(options.program);
}

const Registration<CliCommand> kDoctor{{
    "doctor",
    "Check which features work on this machine, and which calls of a program can be recorded",
    "  rankfault doctor\n"
    "  rankfault doctor ./my_program     which of its libraries' calls are recorded\n"
    "  rankfault doctor --all            also name what the double of CUDA does not model\n\n"
    "doctor does not run the program. Exit: 0, or 64 when the program cannot be started with the agent.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("program", options->program, "a program: a path, or found on PATH");
      app.add_flag("--all", options->all, "name the functions that the double does not model");
      return [options] { return doctor(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
