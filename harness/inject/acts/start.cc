// start: the local launcher starts the victim as `path` says: never, late (by `delay`), twice, wrong_env
// (with the variables `env`), wrong_rank or wrong_size (`size`). launch/start_faults.cc performs it.
#include <fmt/format.h>

#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  if (action.path == "late") return fmt::format("started {} late", to_text(action.delay));
  if (action.path == "wrong_rank") return fmt::format("started as rank {}", action.size);
  if (action.path == "wrong_size") return fmt::format("started for a world of {}", action.size);
  if (action.path == "wrong_env") {
    std::string told;
    for (const auto& [name, value] : action.env) told += fmt::format(" {}={}", name, value);
    return "started with" + told;
  }
  return action.path == "twice" ? "started twice" : "never started";
}

const Registration<ExternalAct> kRegistration{{
    .name = kStartAct,
    .when = ActTime::kBeforeTheJob,
    .words = words,
}};

}  // namespace
}  // namespace rankfault
