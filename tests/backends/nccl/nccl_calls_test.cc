// Tests of NCCL's calls.def: the list lacks no function that an installed libnccl exports.
#include <gtest/gtest.h>
#include <stdio.h>

#include <set>
#include <string>

namespace {

TEST(NcclCalls, NameEveryFunctionOfTheLibrary) {
  const std::set<std::string> listed = {
#define RF_LIBRARY(name, id)
#define RF_CALL(symbol, class) #symbol,
#include "harness/backends/nccl/calls.def"
#undef RF_CALL
#undef RF_LIBRARY
  };
  FILE* nm = popen("nm -D --defined-only '" RANKFAULT_TEST_LIBNCCL "' 2>/dev/null", "r");
  char line[512], type = 0, name[400];
  int seen = 0;
  while (nm && fgets(line, sizeof(line), nm)) {
    if (sscanf(line, "%*s %c %399s", &type, name) != 2 || std::string(name).rfind("nccl", 0) != 0) continue;
    if (type != 'T' && type != 'W') continue;
    ++seen;
    EXPECT_TRUE(listed.count(name)) << name << " is not in calls.def";
  }
  if (nm) pclose(nm);
  if (seen == 0) GTEST_SKIP() << "no libnccl at '" RANKFAULT_TEST_LIBNCCL "'";
  EXPECT_GT(seen, 50);
}

}  // namespace
