// watch: does nothing to the job: the file calls of the action's trigger are recorded in every rank.
#include <fmt/format.h>

#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

std::string words(const Action& action) {
  return fmt::format("every {} of {} is recorded", action.at.file_op, action.at.path);
}

const Registration<ExternalAct> kRegistration{{
    .name = "watch",
    .when = ActTime::kNever,
    .words = words,
}};

}  // namespace
}  // namespace rankfault
