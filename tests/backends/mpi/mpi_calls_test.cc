// Tests of calls.def: no function of an installed MPI is missing from the list.
#include <gtest/gtest.h>
#include <stdio.h>

#include <set>
#include <string>

namespace {

std::set<std::string> listed() {
  return {
#define RF_LIBRARY(name, id)
#define RF_CALL(symbol, class) #symbol,
#include "harness/backends/mpi/calls.def"
#undef RF_CALL
#undef RF_LIBRARY
  };
}

// Defined names that begin with MPI_ or MPIX_; those all in capitals are predefined callbacks and
// Fortran spellings, not functions of the C interface.
std::set<std::string> exported(const std::string& library) {
  std::set<std::string> out;
  FILE* nm = popen(("nm -D --defined-only " + library + " 2>/dev/null").c_str(), "r");
  char line[512], type = 0, name[400];
  while (nm && fgets(line, sizeof(line), nm)) {
    if (sscanf(line, "%*s %c %399s", &type, name) != 2 || (type != 'T' && type != 'W')) continue;
    const std::string text(name);
    if (text.rfind("MPI_", 0) != 0 && text.rfind("MPIX_", 0) != 0) continue;
    bool lower = false;
    for (char c : text) lower |= c >= 'a' && c <= 'z';
    if (lower) out.insert(text);
  }
  if (nm) pclose(nm);
  return out;
}

struct Library {
  const char* name;
  const char* path;
};
void PrintTo(const Library& library, std::ostream* out) { *out << library.name; }

class MpiCalls : public ::testing::TestWithParam<Library> {};
INSTANTIATE_TEST_SUITE_P(Libraries, MpiCalls,
                         ::testing::Values(Library{"OpenMpi4", RANKFAULT_TEST_LIBMPI4},
                                           Library{"OpenMpi5", RANKFAULT_TEST_LIBMPI5},
                                           Library{"Mpich4", RANKFAULT_TEST_LIBMPICH4},
                                           Library{"Mpich5", RANKFAULT_TEST_LIBMPICH5},
                                           Library{"MpiStandard", RANKFAULT_TEST_LIBMPI_ABI}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(MpiCalls, NameEveryFunctionOfTheLibrary) {
  const std::set<std::string> library = exported(GetParam().path);
  if (library.empty()) GTEST_SKIP() << "no library at '" << GetParam().path << "'";
  ASSERT_GT(library.size(), 400u);
  const std::set<std::string> names = listed();
  for (const std::string& name : library) EXPECT_TRUE(names.count(name)) << name << " is not in calls.def";
}

}  // namespace
