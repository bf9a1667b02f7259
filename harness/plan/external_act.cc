#include "harness/plan/external_act.h"

namespace rankfault {
namespace {

std::string nothing(const Action&) { return "nothing"; }

const ExternalAct kNothing{.name = kNoAct, .words = nothing};

const ExternalAct* find(const std::string& name) {
  return name == kNoAct ? &kNothing : Catalog<ExternalAct>::instance().find(name);
}

}  // namespace

const ExternalAct& act_of(const Action& action) {
  const ExternalAct* act = find(action.outside);
  RF_ASSERT(act != nullptr, "the planner and the reader of plan.json let no unknown act pass");
  return *act;
}

bool is_act(const std::string& name) { return find(name) != nullptr; }

}  // namespace rankfault
