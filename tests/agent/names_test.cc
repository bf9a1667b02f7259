// A program gets the same answers about names with the agent as without it, whichever way it asks.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Answer {
  std::string text;
  int status = -1;
};

Answer run(const std::string& command) {
  Answer answer;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return answer;
  for (char buffer[4096]; size_t n = fread(buffer, 1, sizeof(buffer), pipe);) answer.text.append(buffer, n);
  const int status = pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return answer;
}

Answer ask(const std::string& program, const std::string& way, const std::string& preload) {
  const std::string folder = RF_NAMES_FOLDER;
  return run("env LD_PRELOAD=" + preload + " " + folder + "/" + program + " " + way + " " + folder);
}

class AgentNames : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(AgentNames, AreThereWhenALibraryHasThem) {
  const auto& [program, way] = GetParam();
  const Answer alone = ask(program, way, "");
  const Answer watched = ask(program, way, RF_AGENT);
  ASSERT_FALSE(alone.text.empty());
  EXPECT_EQ(watched.text, alone.text);
  EXPECT_EQ(watched.status, alone.status);
}

INSTANTIATE_TEST_SUITE_P(Ways, AgentNames,
                         testing::Combine(testing::Values("names_lazy", "names_now", "names_no_pie"),
                                          testing::Values("weak", "default", "next", "program", "later",
                                                          "plugin", "missing_now", "missing_lazy")),
                         [](const testing::TestParamInfo<AgentNames::ParamType>& which) {
                           return std::string(std::get<0>(which.param)) + "_" + std::get<1>(which.param);
                         });

// The comparison above would also pass with an agent that exports nothing.
TEST(AgentNamesOfALibrary, AreTheAgents) {
  const Answer plugin = run(std::string("env LD_DEBUG=bindings LD_PRELOAD=") + RF_AGENT + " " +
                            RF_NAMES_FOLDER + "/names_lazy plugin " + RF_NAMES_FOLDER);
  EXPECT_THAT(plugin.text,
              testing::ContainsRegex("libnames_plugin.so .0. to [^\n]*librankfault_agent.so .0.: normal "
                                     "symbol `MPI_Barrier'"));
  EXPECT_THAT(plugin.text, testing::HasSubstr("plugin gives 41"));
}

}  // namespace
