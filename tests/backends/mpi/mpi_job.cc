#include "tests/backends/mpi/mpi_job.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "harness/agent/agent_abi.h"
#include "tests/support/mpirun_of.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string build_dir() { return environment("RANKFAULT_BUILD_DIR"); }

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

int wait_for(const std::vector<std::string>& argv, const std::string& out, const std::string& err) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    if (!freopen(out.c_str(), "w", stdout) || !freopen(err.c_str(), "w", stderr)) _exit(126);
    execvp(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::map<int, Json> books_in(const std::string& text) {
  std::map<int, Json> books;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("{\"rank\":", 0) != 0) continue;
    const Json book = Json::parse(line, nullptr, false);
    if (!book.is_discarded()) books[book["rank"].get<int>()] = book;
  }
  return books;
}

// MPICH leaves its segments when a rank ends without MPI_Finalize, and this test has no guardian to remove
// them. The job therefore gets its own /dev/shm, which ends with its last process. Returns nothing where that
// is not allowed: the segments then stay, because nothing distinguishes them from those of another job.
std::vector<std::string> in_own_shm() {
  for (const std::string how : {"--mount", "--map-root-user --mount"}) {
    if (std::system(("unshare " + how + " mount -t tmpfs tmpfs /dev/shm 2>/dev/null").c_str()) != 0) continue;
    return {"sh", "-c",
            "exec unshare " + how + " sh -c 'mount -t tmpfs tmpfs /dev/shm && exec \"$@\"' sh \"$@\"", "sh"};
  }
  return {};
}

}  // namespace

bool Mpi::usable() const {
  return !mpirun.empty() && access(mpirun.c_str(), X_OK) == 0 && fs::exists(programs + "/mpi_steps");
}

Mpi mpi_named(const std::string& name) {
  const bool open = name.rfind("OpenMpi", 0) == 0;
  return {name,
          open                    ? "openmpi"
          : name == "MpiStandard" ? "mpi_standard"
                                  : "mpich",
          name.back() == '4' ? 4u : 5u, mpirun_of(name), mpi_programs_of(name)};
}

JobEnd run_mpi(const Mpi& mpi, const std::vector<std::string>& program, const JobOptions& options) {
  const bool open = mpi.is_openmpi();
  std::vector<std::string> argv = open ? std::vector<std::string>{} : in_own_shm();
  const auto add = [&argv](std::vector<std::string> words) {
    argv.insert(argv.end(), words.begin(), words.end());
  };
  // Killed launchers leave files in it.
  const std::string tmp = options.run_dir + "/tmp";
  fs::create_directories(tmp);
  add({"timeout", "--kill-after=5", "50", "env", "TMPDIR=" + tmp, "OMPI_ALLOW_RUN_AS_ROOT=1",
       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
       mpi.mpirun});
  if (open && mpi.major == 4) add({"--oversubscribe", "--mca", "btl", "self,vader"});
  if (open && mpi.major == 5) add({"--map-by", ":OVERSUBSCRIBE", "--mca", "btl", "self,sm"});
  add({"-n", std::to_string(options.ranks)});
  const std::map<std::string, std::string> ours = {{"LD_PRELOAD", build_dir() + "/lib/librankfault_agent.so"},
                                                   {"RANKFAULT_RUN_DIR", options.run_dir},
                                                   {"RANKFAULT_CONTROL", options.run_dir + "/control"}};
  for (const auto& [name, value] : ours) {
    if (options.agent && open) add({"-x", name + "=" + value});
    if (options.agent && !open) add({"-genv", name, value});
  }
  add(options.mpirun_args);
  add({mpi.programs + "/" + program.front()});
  add({program.begin() + 1, program.end()});
  fs::create_directories(options.run_dir + "/records");
  JobEnd end;
  end.status = wait_for(argv, options.run_dir + "/out", options.run_dir + "/err");
  end.out = text_of(options.run_dir + "/out");
  end.err = text_of(options.run_dir + "/err");
  end.books = books_in(end.out);
  return end;
}

void write_control_page(const std::string& path, const rf_armed_request& request) {
  auto page = std::make_unique<rf_control>();
  std::memset(static_cast<void*>(page.get()), 0, sizeof(*page));
  page->magic = RF_CONTROL_MAGIC;
  page->abi_version = RF_ABI_VERSION;
  page->control_bytes = sizeof(*page);
  page->armed_count = 1;
  page->armed_ops[request.op / 64] = 1ull << (request.op % 64);
  page->park_limit_ns = 2000000000;
  rf_armed& armed = page->armed[0];
  armed.verb = request.verb;
  armed.rank = request.rank;
  armed.attempt = -1;
  armed.op = request.op;
  armed.edge = RF_EDGE_BEFORE;
  armed.step = -1;
  armed.nth = request.nth;
  armed.times = 1;
  armed.after = -1;
  armed.arg[0] = request.arg0;
  armed.arg[1] = request.arg1;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(page.get()), sizeof(*page));
}

}  // namespace rankfault::test
