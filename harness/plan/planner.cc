// planner: makes the Plan of a Scenario. The same scenario and options give the same plan, byte for byte.
#include <fmt/format.h>

#include <algorithm>

#include "faults/fault.h"
#include "harness/base/json_text.h"
#include "harness/base/printable.h"
#include "harness/plan/apply.h"
#include "harness/plan/external_act.h"
#include "harness/scenario/op_names.h"
#include "harness/scenario/scenario_tree.h"
#include "harness/scenario/validate.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

// Words of a command line may hold any bytes; plan.json and the journal hold UTF-8.
Status check_texts(const Value& tree) {
  if (is_scalar(tree) && !fits_json(tree.text))
    return usage_error("not UTF-8: " + printable(tree.text), tree.pos);
  if (const Value::List* items = tree.list())
    for (const Value& item : *items)
      if (Status ok = check_texts(item); !ok) return ok;
  if (const Value::Map* entries = tree.map())
    for (const auto& [key, value] : *entries)
      if (Status ok = check_texts(value); !ok) return ok;
  return Done{};
}

std::string digest_of(const Scenario& scenario, const PlanOptions& options, uint64_t seed) {
  const std::string text = fmt::format("{}\n{}\n{} {} {}", scenario.text, to_json(to_tree(scenario)).dump(),
                                       seed, options.faults_on, options.bug_on && scenario.bug);
  return fmt::format("{:016x}", rf_hash_bytes(0, text.data(), text.size()));
}

// Without a given seed, the scenario's name gives it, so that a plan depends on nothing but its input.
uint64_t seed_of(const Scenario& scenario, const PlanOptions& options) {
  if (options.seed) return *options.seed;
  if (scenario.seed) return *scenario.seed;
  return rf_hash_text(scenario.name.c_str()) >> 32;
}

Status lower_fault(const FaultSpec& fault, Plan& plan) {
  const FaultKind* kind = Catalog<FaultKind>::instance().find(fault.kind);
  RF_ASSERT(kind != nullptr, "validate() lets no unknown kind pass");
  const int ranks = plan.scenario.workload.ranks;
  const LowerContext context{plan.scenario, ranks, plan.seed, victims_of(fault, ranks)};
  Result<std::vector<Action>> lowered = kind->lower(fault, context);
  if (!lowered) return lowered.error();
  const auto base = static_cast<uint32_t>(plan.actions.size());
  for (Action& action : *lowered) {
    action.id = static_cast<uint32_t>(plan.actions.size());
    action.fault = fault.id;
    RF_ASSERT(is_act(action.outside), "a fault names an act that no file registers");
    if (action.after >= 0)
      action.after += static_cast<int32_t>(base);  // a kind links its own actions by position
    plan.actions.push_back(std::move(action));
  }
  return Done{};
}

bool is_done_by_a_victim(const Action& action) { return time_of(action) == ActTime::kAtGate; }

// `after_fault` waits for the fault's action on the same rank, or for the fault's first action if that rank
// has none.
Status link_after_faults(Plan& plan) {
  for (Action& action : plan.actions) {
    if (action.after >= 0 || action.at.after_fault.empty()) continue;
    for (const Action& other : plan.actions) {
      if (other.fault != action.at.after_fault || !is_done_by_a_victim(other)) continue;
      if (action.after < 0 || other.rank == action.rank) action.after = static_cast<int32_t>(other.id);
      if (other.rank == action.rank) break;
    }
    if (action.after < 0)
      return usage_error(fmt::format("\"{}\" acts before any rank starts: after_fault cannot wait for it",
                                     action.at.after_fault),
                         action.at.pos);
  }
  return Done{};
}

// Calls on files are recorded only in processes that preload the file-call object.
bool counts_file_calls(const ExpectationSpec& spec) {
  const Value* op = spec.params.find("op");
  const std::optional<rf_op> named = op ? op_from_word(op->text) : std::nullopt;
  return named && is_file_op(*named);
}

// Over the double of CUDA, NCCL's segments always lie in /dev/shm. Only the records show a segment that is
// made, closed and abandoned between two looks of the guardian.
void add_preloads(Plan& plan) {
  const auto& expect = plan.scenario.expect;
  const bool counted = std::any_of(expect.begin(), expect.end(), counts_file_calls);
  const bool files = counted || plan.scenario.workload.cuda_double ||
                     std::any_of(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
                       return !action.at.file_op.empty() || act_of(action).needs_file_calls;
                     });
  if (!files) return;
  plan.preload.emplace_back("libc");
  plan.notes.emplace_back(
      "libc: the file-call object is preloaded too, and every file call of the job passes through it");
}

void add_notes(Plan& plan) {
  for (const Action& action : plan.actions)
    if (!action.at.file_op.empty())
      plan.notes.push_back(
          fmt::format("inner: action {} may fire at {} inside a library call; there it may only kill, "
                      "stop, unlink or fail",
                      action.id, action.at.file_op));
}

}  // namespace

Result<Plan> make_plan(const Scenario& written, const PlanOptions& options) {
  Result<Scenario> applied = apply(written, options);
  if (!applied) return applied.error();
  Plan plan;
  plan.scenario = std::move(*applied);
  name_lone_parameters(plan.scenario);
  if (Status texts = check_texts(to_tree(plan.scenario)); !texts) return texts.error();
  if (const std::vector<Error> errors = validate(plan.scenario); !errors.empty()) return errors.front();
  plan.tooth = options.tooth ? options.tooth->id : "";
  plan.variant = options.variant ? options.variant->id : "";
  plan.bug_on = options.bug_on && plan.scenario.bug.has_value();
  plan.faults_on = options.faults_on;
  plan.seed = seed_of(plan.scenario, options);
  if (plan.faults_on)
    for (const FaultSpec& fault : plan.scenario.faults)
      if (Status ok = lower_fault(fault, plan); !ok) return ok.error();
  if (plan.actions.size() > RF_MAX_ARMED)
    return usage_error(fmt::format("{} actions are too many: at most {} can be armed at once",
                                   plan.actions.size(), RF_MAX_ARMED),
                       {plan.scenario.file, 0, 0});
  if (Status linked = link_after_faults(plan); !linked) return linked.error();
  add_preloads(plan);
  add_notes(plan);
  plan.scenario_digest = digest_of(plan.scenario, options, plan.seed);
  return plan;
}

}  // namespace rankfault
