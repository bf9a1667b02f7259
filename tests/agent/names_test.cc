// A program gets the same answers about names with and without the agent, in every way that it can ask.
#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/agent/agent_run.h"

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
                                                          "plugin", "missing_now", "missing_lazy",
                                                          "addresses")),
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

TEST(AgentNamesByTheHundred, AreAllAbsentThatTheLibraryLacks) {
  const Answer alone = ask("names_now", "many", ""), watched = ask("names_now", "many", RF_AGENT);
  ASSERT_THAT(alone.text, testing::ContainsRegex("plugin gives 20[4-9][0-9][0-9]")) << "2 of more than 400";
  EXPECT_EQ(watched.text, alone.text);
}

// Makes RELRO end where the table of addresses ends: within a page that the loader leaves writable.
std::string with_relro_within_a_page(const std::string& program) {
  std::ifstream in(program, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  auto* file = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + file->e_shoff);
  auto* segments = reinterpret_cast<Elf64_Phdr*>(bytes.data() + file->e_phoff);
  const char* names = bytes.data() + sections[file->e_shstrndx].sh_offset;
  uint64_t end = 0, begin = 0;
  for (int i = 0; i < file->e_shnum; ++i)
    if (std::string(names + sections[i].sh_name) == ".got") end = sections[i].sh_addr + sections[i].sh_size;
  for (int i = 0; i < file->e_phnum; ++i)
    if (segments[i].p_type == PT_DYNAMIC) begin = segments[i].p_vaddr;
  for (int i = 0; i < file->e_phnum; ++i)
    if (segments[i].p_type == PT_NOTE) {
      segments[i].p_type = PT_GNU_RELRO;
      segments[i].p_vaddr = begin;
      segments[i].p_memsz = end - begin;
      break;
    }
  std::string path = testing::TempDir() + "names_relro_within_a_page";
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return end % 4096 != 0 && begin < end ? path : "";
}

TEST(AgentNamesAndRelro, APageThatRelroOnlyBeginsToFillStaysWritable) {
  const std::string program = with_relro_within_a_page(std::string(RF_NAMES_FOLDER) + "/names_no_relro");
  ASSERT_FALSE(program.empty());
  const Answer alone = run(program + " weak"),
               watched = run("env LD_PRELOAD=" RF_AGENT " " + program + " weak");
  std::filesystem::remove(program);
  ASSERT_EQ(alone.status, 0) << alone.text;
  EXPECT_EQ(watched.text, alone.text);
  EXPECT_EQ(watched.status, 0);
}

TEST(AgentNamesWhileALibraryLoads, WhatIsBoundPastTheAgentWorksAndIsNoted) {
  std::string folder = testing::TempDir() + "names_race.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::filesystem::create_directory(folder + "/records");
  const std::string fifo = folder + "/libnames_library.so";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string command = " LD_LIBRARY_PATH=" + folder + " " + RF_NAMES_FOLDER + "/names_race " + fifo +
                              " " + RF_NAMES_FOLDER + "/libnames_plugin.so";
  const Answer alone = run("env" + command);
  const Answer watched =
      run("env RANK=0 WORLD_SIZE=1 RANKFAULT_RUN_DIR=" + folder + " LD_PRELOAD=" RF_AGENT + command);
  EXPECT_THAT(alone.text, testing::HasSubstr("plugin gives 41"));
  EXPECT_EQ(watched.text, alone.text);
  int rings = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder + "/records"))
    if (file.path().extension() == ".ring") {
      ++rings;
      const rankfault::test::Ring ring(file.path());
      EXPECT_NE(ring.header().opaque & RF_OPAQUE_COMMUNICATION, 0u);
    }
  EXPECT_EQ(rings, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
