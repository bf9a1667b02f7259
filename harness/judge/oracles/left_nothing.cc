// left_nothing: when the job was over, nothing of it was left: by the census taken before clean-up.
#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/evidence.h"

namespace rankfault {
namespace {

const std::vector<std::string> kKinds{"processes", "shm", "sockets", "temp_files"};

// A leftover line tells of one thing: "process", "temp_file".
bool is_of(const std::string& one, const std::string& kind) {
  return one == kind || one + "s" == kind || one + "es" == kind;
}

ExpectationResult judge_left_nothing(const ExpectationSpec& spec, const RunFacts& facts) {
  std::vector<std::string> kinds = read_texts(spec.params, "kinds");
  if (kinds.empty()) kinds = kKinds;
  std::vector<uint64_t> census = lines_where(facts, "census", [](const Json&) { return true; });
  if (census.empty()) {
    if (facts.teardown != 0)
      return answer(spec, Verdict::kUnknown,
                    fmt::format("the job did not end by itself ({}), so what it leaves was not seen",
                                facts.teardown_reason));
    return answer(spec, Verdict::kUnknown, "no census was taken");
  }
  if (const auto stopped = lines_where(facts, "guardian_stopped", [](const Json&) { return true; });
      !stopped.empty())
    return answer(spec, Verdict::kUnknown,
                  "somebody stopped rankfault-guardian, so what the job made meanwhile was not seen",
                  stopped);
  std::string left;
  size_t count = 0;
  for (const Json& line : facts.leftovers) {
    const std::string kind = line.value("kind", "");
    if (std::none_of(kinds.begin(), kinds.end(), [&](const std::string& k) { return is_of(kind, k); }))
      continue;
    census.push_back(line.value("n", uint64_t{0}));
    if (count++ == 0) left = fmt::format("{} {}", kind, line.value("what", ""));
  }
  if (count == 0) return answer(spec, Verdict::kPass, "nothing was left behind", census);
  return answer(spec, Verdict::kFail, fmt::format("{} left behind, first: {}", count, left), census);
}

const Registration<Oracle> kLeftNothing{{
    "left_nothing",
    "After the job's end, and before clean-up, nothing of it is left: processes, segments, sockets, files.",
    "left_nothing: [processes, shm, sockets, temp_files]",
    {{"kinds", ParamType::kTextList, false, "what is looked for; all four when absent", kKinds}},
    nullptr,
    judge_left_nothing,
    false,
}};

}  // namespace
}  // namespace rankfault
