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

std::string with_last_line(std::string text, const events::Check& check) {
  const std::string said = check.said.value_or("");
  return said.empty() ? text : fmt::format("{}: {}", text, said);
}

ExpectationResult judge_line(const ExpectationSpec& spec, const LineOf<events::Check>& check) {
  const std::string command = fmt::format("{}", fmt::join(check->argv, " "));
  const int value = check->value.value_or(-1);
  if (check->kind == "exit") {
    const std::string text = with_last_line(fmt::format("\"{}\" exited {}", command, value), *check.event);
    return answer(spec, value == 0 ? Verdict::kPass : Verdict::kFail, text, {check.n});
  }
  std::string why = check->why.value_or("");
  if (check->kind == "signal") why = "it ended by " + signal_name(value);
  if (check->kind == "timeout") why = "it did not end in time";
  if (check->kind == "interrupted") why = "the run was interrupted";
  return answer(spec, Verdict::kUnknown,
                with_last_line(fmt::format("\"{}\": {}", command, why), *check.event), {check.n});
}

ExpectationResult judge_check(const ExpectationSpec& spec, const RunFacts& facts) {
  const auto line = first_line<events::Check>(
      facts.journal, [&](const events::Check& check) { return check.id == spec.id; });
  return line ? judge_line(spec, line) : answer(spec, Verdict::kUnknown, "the command was not run");
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
