// check: judges by the exit status of a program of the user that examines what the job left behind.
//
// The program runs once, after the job's end (live/checks.cc). This file reads only its line in the journal.
// A check that could not run, or did not exit by itself, is unknown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/judge/oracle_queries.h"
#include "harness/scenario/placeholders.h"

namespace rankfault {
namespace {

std::string command_text(const Json& line) {
  std::vector<std::string> words;
  for (const Json& word : line.value("argv", Json::array())) words.push_back(word.get<std::string>());
  return fmt::format("{}", fmt::join(words, " "));
}

std::string with_last_line(std::string text, const Json& line) {
  const std::string said = line.value("said", "");
  return said.empty() ? text : fmt::format("{}: {}", text, said);
}

ExpectationResult judge_line(const ExpectationSpec& spec, const Json& line) {
  const std::vector<uint64_t> lines{line.value("n", uint64_t{0})};
  const std::string kind = line.value("kind", ""), command = command_text(line);
  const int value = line.value("value", -1);
  if (kind == "exit") {
    const std::string text = with_last_line(fmt::format("\"{}\" exited {}", command, value), line);
    return answer(spec, value == 0 ? Verdict::kPass : Verdict::kFail, text, lines);
  }
  std::string why = line.value("why", "");
  if (kind == "signal") why = "it ended by " + signal_name(value);
  if (kind == "timeout") why = "it did not end in time";
  if (kind == "interrupted") why = "the run was interrupted";
  return answer(spec, Verdict::kUnknown, with_last_line(fmt::format("\"{}\": {}", command, why), line),
                lines);
}

ExpectationResult judge_check(const ExpectationSpec& spec, const RunFacts& facts) {
  for (const Json& line : facts.journal)
    if (line.value("ev", "") == "check" && line.value("id", "") == spec.id) return judge_line(spec, line);
  return answer(spec, Verdict::kUnknown, "the command was not run");
}

Status check_check(const ExpectationSpec& spec, const Scenario&) {
  const Value* command = spec.params.find("command");
  if (const std::vector<std::string> words = read_texts(spec.params, "command");
      words.empty() || words[0].empty())
    return usage_error("\"command\" must be a program and its arguments, each an item of the list",
                       command ? command->pos : spec.pos);
  Problems mistakes;
  check_placeholders(*command, mistakes, "a check runs once, for all ranks");
  if (!mistakes.empty()) return mistakes.all().front();
  if (const auto within = read_duration(spec.params, "within"); within && *within <= Duration::zero())
    return usage_error("\"within\" must be above 0", spec.params.find("within")->pos);
  return Done{};
}

const Registration<Oracle> kCheck{{
    .name = "check",
    .summary = "Your own command, run after the job, exits 0.",
    .example = "check: {command: [cmp, \"{tmp}/model-0\", \"{tmp}/model-1\"], within: 10s}",
    .params = {{"command", ParamType::kTextList, true,
                "the program and its arguments, never a shell; words as in workload.command, without {rank}"},
               {"within", ParamType::kDuration, false,
                "how long it may take; 30s when absent; longer is unknown"}},
    .check = check_check,
    .judge = judge_check,
}};

}  // namespace
}  // namespace rankfault
