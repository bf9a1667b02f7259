// Tests of calls.def: the list lacks no function of an installed MPI, and no function of its Fortran that
// communicates.
#include <gtest/gtest.h>
#include <stdio.h>

#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

// Maps each name to the meaning of a call of it.
std::map<std::string, std::string> listed() {
  return {
#define RF_LIBRARY(name, id)
#define RF_CALL(symbol, class) {#symbol, #class},
#include "harness/backends/mpi/calls.def"
#undef RF_CALL
#undef RF_LIBRARY
  };
}

// Functions that the library defines with a name of this pattern.
std::set<std::string> exported(const std::string& library, const std::regex& pattern) {
  std::set<std::string> out;
  FILE* nm = popen(("nm -D --defined-only " + library + " 2>/dev/null").c_str(), "r");
  char line[512], type = 0, name[400];
  while (nm && fgets(line, sizeof(line), nm)) {
    if (sscanf(line, "%*s %c %399s", &type, name) != 2 || (type != 'T' && type != 'W')) continue;
    if (std::regex_match(name, pattern)) out.insert(name);
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
  // Names all in capitals are predefined callbacks and Fortran spellings.
  const std::set<std::string> library = exported(GetParam().path, std::regex("MPIX?_.*[a-z].*"));
  if (library.empty()) GTEST_SKIP() << "no library at '" << GetParam().path << "'";
  ASSERT_GT(library.size(), 400u);
  const auto names = listed();
  for (const std::string& name : library) EXPECT_TRUE(names.count(name)) << name << " is not in calls.def";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}

// The C name that a Fortran name stands for, in small letters.
std::string without_spelling(const std::string& name) {
  return std::regex_replace(name, std::regex("(_f08(ts)?(_large)?_|_?_)$"), "");
}

TEST(MpiFortranCalls, NameEveryFunctionThatCommunicates) {
  const auto names = listed();
  std::map<std::string, std::string> of_c;
  for (const auto& [name, what] : names)
    if (name.rfind("MPI", 0) == 0) of_c[lower(name)] = what;
  size_t seen = 0;
  for (const char* library : {RANKFAULT_TEST_FORTRAN_LIBRARIES})
    for (const std::string& name : exported(library, std::regex("mpix?_[a-z0-9_]+_"))) {
      const auto found = of_c.find(without_spelling(name));
      if (found == of_c.end() || found->second == "QUERY" || found->second == "OTHER") continue;
      ++seen;
      EXPECT_TRUE(names.count(name)) << name << " of " << library << " is not in calls.def";
    }
  if (seen == 0) GTEST_SKIP() << "no Fortran library of an MPI here";
  EXPECT_GT(seen, 400u);
}

}  // namespace
