// What the agent's objects export and need.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return text;
  for (char buffer[4096]; size_t n = fread(buffer, 1, sizeof(buffer), pipe);) text.append(buffer, n);
  pclose(pipe);
  return text;
}

std::set<std::string> exported(const std::string& object) {
  std::istringstream lines(output_of("nm -D --defined-only " + object));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(line.rfind(' ') + 1));
  return names;
}

std::set<std::string> interposed() {
  std::set<std::string> names;
  const std::string backends = std::string(RF_SOURCE_DIR) + "/harness/backends/";
  for (const char* backend : {"mpi", "gloo", "nccl", "torch_nccl"}) {
    std::ifstream file(backends + backend + "/calls.def");
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, std::regex(R"(^\s*RF_CALL\(\s*(\w+)\s*,)"))) continue;
      const std::string name = found[1];
      names.insert(name);
      if (std::string(backend) == "mpi") names.insert((name[0] == 'M' ? "P" : "p") + name);  // profiling name
    }
  }
  return names;
}

TEST(AgentExports, AreTheNamesThatItStandsInForAndTheMarks) {
  std::set<std::string> expected = interposed();
  if (exported(RF_AGENT).empty()) GTEST_SKIP() << "no nm";
  EXPECT_FALSE(expected.empty());
  for (const char* name :
       {"_exit", "_Exit", "quick_exit", "dlopen", "dlmopen", "dlsym", "dlvsym", "__asan_default_options",
        "rankfault_batch_v1", "rankfault_core_table_v1", "rankfault_error_v1", "rankfault_mark_v1",
        "rankfault_phase_v1", "rankfault_step_begin_v1", "rankfault_step_commit_v1", "rankfault_value_v1"})
    expected.insert(name);
  EXPECT_EQ(exported(RF_AGENT), expected);
}

TEST(AgentExports, NeedNoLibraryButLibc) {
  for (const char* object : {RF_AGENT, RF_LIBC_MODULE}) {
    const std::string dynamic = output_of(std::string("readelf -d ") + object + " | grep NEEDED");
    if (dynamic.empty()) GTEST_SKIP() << "no readelf";
    EXPECT_THAT(dynamic, testing::HasSubstr("libc.so.6"));
    std::istringstream lines(dynamic);
    for (std::string line; std::getline(lines, line);)  // the loader is always needed
      EXPECT_THAT(line, testing::ContainsRegex("\\[(libc|libpthread|libdl|ld-linux[^ ]*)\\.so\\.[0-9]\\]"));
  }
}

// "GLIBC_2.34" -> {2, 34}
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  std::istringstream in(version.substr(version.find('_') + 1));
  for (std::string part; std::getline(in, part, '.');) numbers.push_back(std::stoi(part));
  return numbers;
}

// Programs of glibc 2.28 and of g++ 8's libstdc++ load them (RHEL 8, Debian 10).
TEST(AgentExports, NeedNoNewVersionOfALibrary) {
  const std::map<std::string, std::vector<int>> newest = {
      {"GLIBC", {2, 28}}, {"GLIBCXX", {3, 4, 25}}, {"CXXABI", {1, 3, 11}}};
  std::vector<std::string> objects = {RF_AGENT, RF_LIBC_MODULE};
  const auto decoders = std::filesystem::path(RF_AGENT).parent_path() / "decoders";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(decoders))
    if (entry.is_regular_file()) objects.push_back(entry.path());
  EXPECT_GT(objects.size(), 3u);
  for (const std::string& object : objects) {
    std::istringstream words(
        output_of("readelf -V " + object + " | grep -oE '(GLIBC|GLIBCXX|CXXABI)_[0-9.]+'"));
    size_t seen = 0;
    for (std::string word; words >> word; ++seen)
      EXPECT_LE(numbers_of(word), newest.at(word.substr(0, word.find('_')))) << object << " needs " << word;
    EXPECT_GT(seen, 0u) << "readelf, which comes with the compiler, shows no version in " << object;
  }
}

TEST(AgentExports, KeepThreadLocalsInitialExec) {
  const std::string relocations = output_of(std::string("readelf -rW ") + RF_AGENT);
  if (relocations.empty()) GTEST_SKIP() << "no readelf";
  EXPECT_THAT(relocations, testing::HasSubstr("TPOFF64"));
  EXPECT_THAT(relocations, testing::Not(testing::HasSubstr("DTPMOD")));
}

}  // namespace
