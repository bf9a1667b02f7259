// rankfault/gtest.h: runs a scenario from a GoogleTest, and matchers for its result.
//
//   const rankfault::Run run = rankfault::run_scenario("kill-a-rank.yaml", {"--seed", "7"});
//   RANKFAULT_SKIP_IF_SKIPPED(run);
//   EXPECT_THAT(run, rankfault::Passed());
//   EXPECT_THAT(run, rankfault::Blames("dead_rank", {2}));
//   EXPECT_THAT(run, rankfault::Expectation("unblocked", "pass"));
//
// The tool is $RANKFAULT, else the one that find_package(rankfault) found. The fields of `result` are those
// of the schema rankfault.result.v1. A failed matcher prints the tool's own report. Call from one thread at a
// time.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#ifndef RANKFAULT_TOOL
#define RANKFAULT_TOOL "rankfault"
#endif

namespace rankfault {

struct Run {
  int status = -1;        // the exit status of `rankfault run`; 77: skipped
  std::string output;     // its report for people, and its errors
  std::string directory;  // the run directory; it stays
  nlohmann::json result;  // result.json; null when the scenario could not be run

  // The first cause: {"kind": "dead_rank", "ranks": [2], ...}; null: nothing was found.
  nlohmann::json first_cause() const {
    if (!result.is_object() || !result.contains("first_cause") || result["first_cause"].is_null())
      return nullptr;
    return result["findings"].at(result["first_cause"].get<size_t>());
  }
};

inline std::ostream& operator<<(std::ostream& out, const Run& run) {
  return out << "exit status " << run.status << ", run " << run.directory << "\n" << run.output;
}

namespace detail {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline int exit_status_of(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (out >= 0 && ::dup2(out, 1) >= 0 && ::dup2(out, 2) >= 0) ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace detail

// Runs the scenario file once; `options` are more words for `rankfault run` (not --teeth, --jobs or several
// sizes).
inline Run run_scenario(const std::string& file, const std::vector<std::string>& options = {}) {
  const char* tool = ::getenv("RANKFAULT");
  const char* tmp = ::getenv("TMPDIR");
  std::string folder = std::string(tmp ? tmp : "/tmp") + "/rankfault-gtest-XXXXXX";
  Run run;
  if (!::mkdtemp(folder.data())) {
    run.output = "cannot make a folder in " + std::string(tmp ? tmp : "/tmp");
    return run;
  }
  run.directory = folder + "/run";
  std::vector<std::string> words{tool && *tool ? tool : RANKFAULT_TOOL, "run", file, "--run-dir",
                                 run.directory};
  words.insert(words.end(), options.begin(), options.end());
  run.status = detail::exit_status_of(words, folder + "/output");
  run.output = detail::text_of(folder + "/output");
  run.result = nlohmann::json::parse(detail::text_of(run.directory + "/result.json"), nullptr, false);
  if (run.result.is_discarded()) run.result = nullptr;
  return run;
}

// Its outcome is the one that the scenario says it must have.
MATCHER(Passed, negation ? "did not have the right outcome" : "had the right outcome") {
  *result_listener << arg;
  return arg.result.is_object() && arg.result.value("outcome", "") == "as_it_must_be";
}

namespace detail {
MATCHER_P2(BlamesFirst, kind, ranks,
           "has the first cause " + kind + " of ranks " + ::testing::PrintToString(ranks)) {
  *result_listener << arg;
  const nlohmann::json cause = arg.first_cause();
  return cause.is_object() && cause.value("kind", "") == kind && cause["ranks"] == nlohmann::json(ranks);
}
}  // namespace detail

// The first cause has this kind and blames exactly these ranks.
inline ::testing::Matcher<const Run&> Blames(const std::string& kind, const std::vector<int>& ranks) {
  return detail::BlamesFirst(kind, ranks);
}

// The expectation with this id has this verdict: "pass", "fail" or "unknown".
MATCHER_P2(Expectation, id, verdict, std::string("expectation ") + id + " has the verdict " + verdict) {
  *result_listener << arg;
  if (!arg.result.is_object() || !arg.result.contains("expectations")) return false;
  for (const nlohmann::json& one : arg.result["expectations"])
    if (one.value("id", "") == id) return one.value("verdict", "") == verdict;
  return false;
}

}  // namespace rankfault

// Skips the test when the scenario needs something that the machine lacks.
#define RANKFAULT_SKIP_IF_SKIPPED(run) \
  if ((run).status == 77) GTEST_SKIP() << (run).output
