// torch_nccl_calls_test: the names of calls.def against those that PyTorch's library for CUDA defines.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>

#include "tests/backends/torch_nccl/over_double.h"

namespace rankfault::test {
namespace {

constexpr const char* kGroup = "_ZN4c10d16ProcessGroupNCCL";

std::set<std::string> defined_by(const std::string& library) {
  std::set<std::string> names;
  const std::string command =
      "nm -D --defined-only '" + library + "' | awk '{print $3}' | grep ProcessGroupNCCL";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  char line[4096];
  while (pipe && fgets(line, sizeof line, pipe.get())) names.insert(std::string(line, strcspn(line, "\n")));
  return names;
}

std::set<std::string> listed() {
  std::ifstream in(std::string(getenv("RANKFAULT_SOURCE_DIR")) + "/harness/backends/torch_nccl/calls.def");
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex("^RF_CALL\\((\\w+),"))) names.insert(found[1]);
  }
  return names;
}

// A call takes options or, if it is a message, tensors and numbers. Those that end in "oop" and "impl" are
// steps of others.
bool is_call(const std::string& name) {
  static const std::regex calls(std::string(kGroup) +
                                R"(\d+\w+(RKNS_\d+\w+OptionsE|RSt6vectorIN2at6TensorESaIS3_EEii?))");
  static const std::regex steps(R"(.*(_oop|_impl)E.*)");
  return std::regex_match(name, calls) && !std::regex_match(name, steps);
}

class TorchNcclCalls : public testing::Test {
 protected:
  void SetUp() override {
    defined_ = defined_by(torch_library());
    if (defined_.empty()) GTEST_SKIP() << kNoTorchNccl;
  }
  std::set<std::string> defined_;
};

TEST_F(TorchNcclCalls, EveryCallOfTheGroupIsListed) {
  const std::set<std::string> names = listed();
  int seen = 0;
  for (const std::string& name : defined_)
    if (is_call(name)) {
      EXPECT_TRUE(names.count(name)) << name;
      ++seen;
    }
  EXPECT_EQ(seen, 20);
}

TEST_F(TorchNcclCalls, EveryListedNameIsDefined) {
  for (const std::string& name : listed()) EXPECT_TRUE(defined_.count(name)) << name;
}

}  // namespace
}  // namespace rankfault::test
