// gloo_calls_test: the names of calls.def against the names that the libraries of this machine define.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <regex>
#include <set>

#include "tests/backends/gloo/rank_job.h"

namespace rankfault::test {
namespace {

std::set<std::string> lines_of(const std::string& command) {
  std::set<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  char line[4096];
  while (pipe && fgets(line, sizeof line, pipe.get())) lines.insert(std::string(line, strcspn(line, "\n")));
  return lines;
}

std::string torch_folder(const std::string& python) {
  const std::set<std::string> where =
      lines_of(python + " -c 'import torch, os; print(os.path.dirname(torch.__file__))' 2>/dev/null");
  return where.size() == 1 ? *where.begin() : "";
}

std::set<std::string> defined_by(const std::string& library) {
  return lines_of(
      "nm -D --defined-only " + library +
      " 2>/dev/null | grep -E 'gloo|ProcessGroupGloo|c10d4Work|c10d[0-9]+[A-Za-z]+Store' | awk '{print $3}'");
}

std::set<std::string> listed() {
  std::ifstream in(std::string(getenv("RANKFAULT_SOURCE_DIR")) + "/harness/backends/gloo/calls.def");
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex("^RF_CALL\\((\\w+),"))) names.insert(found[1]);
  }
  return names;
}

// Free functions gloo::x(XOptions&), and connectFullMesh.
std::set<std::string> collectives_in(const std::set<std::string>& names) {
  std::set<std::string> found;
  for (const std::string& name : names)
    if (std::regex_match(name, std::regex("_ZN4gloo\\d+[a-z]+ER(K?)NS_\\d+[A-Za-z]+OptionsE")) ||
        name.find("15connectFullMesh") != std::string::npos)
      found.insert(name);
  return found;
}

TEST(GlooCalls, EveryCollectiveOfTheInstalledGlooIsListed) {
  const std::set<std::string> collectives = collectives_in(defined_by(RANKFAULT_TEST_LIBGLOO));
  if (collectives.empty()) GTEST_SKIP() << "no libgloo";
  EXPECT_GE(collectives.size(), 11u);
  const std::set<std::string> names = listed();
  for (const std::string& name : collectives) EXPECT_TRUE(names.count(name)) << name;
}

// Names of calls.def that a version may lack: forms that came with PyTorch 2 (lists in an all-to-all in one
// of its later versions), and arguments that 1.13 takes by value.
bool may_be_absent(const std::string& name, bool of_1) {
  const std::regex only_1("AsyncWork(7executeEN3|19finishWorkGlooErrorENSt)");
  const std::regex only_2(
      "AsyncWork(7executeERK|19finishWorkGlooErrorERK)|16allreduce_sparse|20_reduce_scatter_base|"
      "_tensor_coalesced");
  return name.find("ProcessGroupGloo8alltoallE") != name.npos ||
         std::regex_search(name, of_1 ? only_2 : only_1);
}

TEST(GlooCalls, EveryProcessGroupMethodOfTheInstalledPyTorchIsListed) {
  const std::string python = torch_python();
  if (python.empty()) GTEST_SKIP() << "no PyTorch with Gloo (RANKFAULT_PYTHON)";
  const bool of_1 = !lines_of(python + " -c 'import torch; print(torch.__version__)' | grep '^1[.]'").empty();
  const std::set<std::string> defined = defined_by(torch_folder(python) + "/lib/libtorch_cpu.so");
  const std::set<std::string> names = listed();
  for (const std::string& name : collectives_in(defined)) EXPECT_TRUE(names.count(name)) << name;
  int methods = 0;
  for (const std::string& name : defined) {  // methods that take tensors
    if (!std::regex_match(name, std::regex("_ZN4c10d16ProcessGroupGloo\\d+\\w+6Tensor\\w+")) ||
        name.find("Work") != std::string::npos)
      continue;
    EXPECT_TRUE(names.count(name)) << name;
    ++methods;
  }
  EXPECT_GE(methods, of_1 ? 13 : 17);
  for (const std::string& name : names) {
    if (name.rfind("_ZN4c10d", 0) != 0 || may_be_absent(name, of_1)) continue;
    EXPECT_TRUE(defined.count(name)) << name << " is gone from this PyTorch";
  }
}

TEST(GlooCalls, ThePassOfAutogradIsListedInTheFormOfTheInstalledPyTorch) {
  const std::string python = torch_python();
  if (python.empty()) GTEST_SKIP() << "no PyTorch with Gloo (RANKFAULT_PYTHON)";
  const std::set<std::string> passes =
      lines_of("nm -D --defined-only " + torch_folder(python) +
               "/lib/libtorch_cpu.so | awk '{print $3}' | grep Engine23execute_with_graph_task");
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_TRUE(listed().count(*passes.begin())) << *passes.begin();
}

}  // namespace
}  // namespace rankfault::test
