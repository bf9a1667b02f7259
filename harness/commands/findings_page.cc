#include "harness/commands/findings_page.h"

#include <fmt/format.h>

#include <cctype>

#include "harness/diagnose/rule.h"

namespace rankfault {
namespace {

constexpr const char* kHead = R"(# Findings

Made by `rankfault list findings --markdown`.

A finding says what rankfault believes happened, which ranks it blames, in which call, and how sure it is.

- *proven*: the recorded facts allow nothing else. The finding lists its assumptions (`assumes`), and each of them holds.
- *inferred*: the facts suggest it. The finding names the assumption that does not hold, or the rule can never prove. An
  inferred finding is withdrawn when the job continues.
- The first finding is the cause. Findings under it (`then`) are its effects.
- *handled*: the program continued after it and ended with 0. It does not change the exit status.

Two answers are not findings. `none`: the record shows nothing wrong. `cannot_say`: the record does not allow an answer, and
the text gives the reason: rankfault recorded no rank, a record is damaged, or a rank stays in a call that no rule explains.
)";

}  // namespace

std::string findings_page() {
  std::string page = kHead;
  for (const Rule* rule : Catalog<Rule>::instance().all())
    page +=
        fmt::format("\n## {}\n\n{}.\n\n- Proven when: {}\n- Example: `{}`\n- What to do: {}\n", rule->name,
                    std::string(1, static_cast<char>(std::toupper(rule->summary[0]))) + (rule->summary + 1),
                    rule->proof, rule->example, rule->next);
  return page;
}

}  // namespace rankfault
