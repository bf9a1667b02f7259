// preloads_test: libraries that a job preloads itself still work with the agent: jemalloc, and
// AddressSanitizer's runtime, which must be the first library.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "tests/support/mpirun_of.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

void allow_root() {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"}) {
    ::setenv(name, "1", 1);
    ::setenv((std::string(name) + "_CONFIRM").c_str(), "1", 1);
  }
}

std::string jemalloc() {
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"})
    if (fs::exists(path)) return path;
  return "";
}

// All output of the ranks, in whichever file it is. torchrun's own log is left out: PyTorch 1.13 copies as
// much of the ranks' output there as it has read when the job ends.
std::string logs_of(const std::string& run, bool torch) {
  std::string all;
  for (const auto& entry : fs::directory_iterator(run + "/logs"))
    if (entry.is_regular_file() && !(torch && entry.path().filename().string().starts_with("launcher")))
      all += read_file(entry.path());
  return all;
}

struct Way {
  const char* name;
  const char* launcher;  // "Local", an MPI by its name (mpirun_of), or "Torch"
  Words options;         // of the launcher
  bool inherited;        // set in the tool's environment, not by these options
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class Preloaded : public testing::TestWithParam<Way> {};

TEST_P(Preloaded, IsInEveryRankBesideTheAgent) {
  const std::string launcher = GetParam().launcher;
  if (jemalloc().empty()) GTEST_SKIP() << "no jemalloc: apt-get install libjemalloc2";
  const bool mpi = launcher != "Local" && launcher != "Torch";
  if (mpi && !have_program(mpirun_of(launcher))) GTEST_SKIP() << "no " << launcher;
  if (launcher == "Torch" && python().empty()) GTEST_SKIP() << "no PyTorch (RANKFAULT_PYTHON)";
  allow_root();
  const Scratch scratch;
  const std::string run = scratch.file("run");
  Words args{"watch", "--run-dir", run};
  if (launcher == "Local") args.insert(args.end(), {"--ranks", "2"});
  args.push_back("--");
  if (mpi) args.insert(args.end(), {mpirun_of(launcher), "-n", "2"});
  if (launcher == "OpenMpi4") args.push_back("--oversubscribe");
  if (launcher == "Torch") {
    for (const std::string& word : torchrun()) args.push_back(word);
    args.insert(args.end(), {"--nproc_per_node=2", "--no_python"});
  }
  for (const std::string& word : GetParam().options)
    args.push_back(std::regex_replace(word, std::regex("JEMALLOC"), jemalloc()));
  args.insert(args.end(),
              {"/bin/sh", "-c",
               "for so in jemalloc rankfault_agent; do grep -q $so /proc/self/maps && echo has-$so; done"});
  const ToolRun tool = GetParam().inherited ? run_tool(args, {{"LD_PRELOAD", jemalloc()}}) : run_tool(args);
  const std::string logs = logs_of(run, launcher == "Torch");
  for (const char* word : {"has-jemalloc", "has-rankfault_agent"}) {
    size_t count = 0;
    for (size_t at = logs.find(word); at != std::string::npos; at = logs.find(word, at + 1)) ++count;
    EXPECT_EQ(count, 2u) << word << "\n" << logs << tool.output;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Preloaded,
    testing::Values(Way{"Local", "Local", {}, true}, Way{"OpenMpi4", "OpenMpi4", {}, true},
                    Way{"OpenMpi4ByX", "OpenMpi4", {"-x", "LD_PRELOAD=JEMALLOC"}, false},
                    Way{"OpenMpi5", "OpenMpi5", {"-x", "LD_PRELOAD"}, true},
                    Way{"Mpich5", "Mpich5", {}, true},
                    Way{"Mpich5ByGenv", "Mpich5", {"-genv", "LD_PRELOAD", "JEMALLOC"}, false},
                    Way{"Torch", "Torch", {}, true}),
    [](const auto& way) { return std::string(way.param.name); });

// tests/ranks/plain/plain_overflow, built with a sanitizer as users build it: by gcc, whose runtime is a
// library.
struct Program {
  const char* name;
  const char* sanitizer;
  const char* argument;
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

class Sanitized : public testing::TestWithParam<Program> {
 protected:
  static std::string program() { return build_dir() + "/bin/plain_overflow_" + GetParam().sanitizer; }
  // Removes what differs from run to run. The runtime's unwinder continues past main, guided by the contents
  // of the stack: those frames have no function.
  static std::string steady(std::string text) {
    text = std::regex_replace(text, std::regex("==[0-9]+=="), "==PID==");
    text = std::regex_replace(text, std::regex(" +#[0-9]+ 0x[0-9a-f]+  \\([^\n]*\\)\n"), "");
    return std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x");
  }
};

TEST_P(Sanitized, SaysWhatItSaysWithoutRankfault) {
  if (!fs::exists(program())) GTEST_SKIP() << "no gcc with sanitizers: apt-get install gcc";
  const Scratch scratch;
  const std::string argument = GetParam().argument;
  const int alone =
      std::system((program() + " " + argument + " > " + scratch.file("alone") + " 2>&1").c_str());
  const std::string said = read_file(scratch.file("alone"));
  if (said.find("unexpected memory mapping") != std::string::npos)
    GTEST_SKIP() << "ThreadSanitizer does not run on this kernel: sysctl vm.mmap_rnd_bits=28";
  const ToolRun tool =
      run_tool({"watch", "--run-dir", scratch.file("run"), "--ranks", "1", "--", program(), argument});
  EXPECT_EQ(steady(read_file(scratch.file("run/logs/rank-0.a0.log"))), steady(said));
  EXPECT_THAT(tool.output, HasSubstr(alone == 0 ? "the job ended: exit 0" : "the job ended: exit 1"));
}

INSTANTIATE_TEST_SUITE_P(Programs, Sanitized,
                         testing::Values(Program{"AddressSound", "address", "sound"},
                                         Program{"AddressOverflow", "address", "overflow"},
                                         Program{"ThreadSound", "thread", "sound"}),
                         [](const auto& program) { return std::string(program.param.name); });

}  // namespace
}  // namespace rankfault::test
