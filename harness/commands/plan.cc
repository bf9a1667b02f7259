// rankfault plan: a dry run: prints every effect that a run would have, in words or as plan.json.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "harness/base/mask.h"
#include "harness/commands/command.h"
#include "harness/commands/planned_command.h"
#include "harness/commands/run_arguments.h"
#include "harness/commands/scenario_files.h"
#include "harness/plan/describe_plan.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {
namespace {

struct Options {
  WhatToRun what;
  std::string tooth, variant;
  bool json = false, no_faults = false, no_bug = false;
};

Result<Scenario> scenario_of(const WhatToRun& what) {
  if (what.is_ladder()) return usage_error("a plan has one world size: give --ranks one number");
  if (what.is_one_line()) {
    ParsedScenario parsed = what.from_one_line();
    print_warnings(parsed);
    if (const auto errors = what.mistakes_of(parsed); !errors.empty()) return print_all_but_last(errors);
    return std::move(parsed.scenario);
  }
  if (what.words.size() != 1)
    return usage_error("name one scenario file, or give --ranks, --fault and a command after --");
  if (const auto errors = check_scenario_file(what.words[0]); !errors.empty())
    return print_all_but_last(errors);
  return load_scenario(what.words[0]);
}

// Sets `out` to the item with this id. An empty id leaves it; an unknown id is an error.
template <typename Item>
Status find_by_id(const std::vector<Item>& items, const std::string& id, const char* what, const Item*& out) {
  std::vector<std::string> ids;
  for (const Item& item : items) {
    if (item.id == id) out = &item;
    ids.push_back(item.id);
  }
  if (out || id.empty()) return Done{};
  return usage_error(fmt::format("unknown {} \"{}\"{}", what, id, did_you_mean(id, ids)));
}

Status read_options(const Options& in, const Scenario& scenario, PlanOptions& out) {
  out.faults_on = !in.no_faults;
  out.bug_on = !in.no_bug;
  out.nccl = in.what.nccl;
  if (Status read = in.what.read_changes(out.set, out.seed); !read) return read;
  if (Status found = find_by_id(scenario.teeth, in.tooth, "mutation check", out.tooth); !found) return found;
  return find_by_id(scenario.variants, in.variant, "variant", out.variant);
}

void print_words(const Plan& plan) {
  const Workload& work = plan.scenario.workload;
  fmt::print("{}: {}\n", plan.scenario.name, plan.scenario.summary);
  fmt::print("runs      {} rank{} by {}: {}\n", work.ranks, work.ranks == 1 ? "" : "s",
             to_text(work.launcher), fmt::join(masked_words(work.command), " "));
  for (const std::string& line : planned_command(plan)) fmt::print("{}\n", line);
  if (work.cuda_double)
    fmt::print("cuda      a double: NCCL's host code without a GPU{}\n",
               work.nccl.empty() ? "" : ", version " + work.nccl);
  fmt::print("limits    {} in all\nrestarts  {}\n", to_text(work.limits.wall), planned_restarts(work));
  fmt::print("TMPDIR    a folder of this run, below yours or /tmp; the run removes it with its contents\n");
  if (plan.scenario.reference_fault_free)
    fmt::print("first     one run without faults, for the values to compare\n");
  if (!plan.variant.empty()) fmt::print("variant   {}\n", plan.variant);
  if (plan.variant.empty())
    for (const Variant& variant : plan.scenario.variants)
      fmt::print("also      as variant {}, {}: --variant {}\n", variant.id,
                 variant.times == 1 ? "once" : fmt::format("{} times", variant.times), variant.id);
  if (!plan.tooth.empty()) fmt::print("mutation  {}\n", plan.tooth);
  if (plan.bug_on) fmt::print("bug       {}\n", plan.scenario.bug->stands_for);
  if (plan.actions.empty()) fmt::print("faults    none\n");
  for (const Action& action : plan.actions) fmt::print("fault     {}\n", masked_text(describe(action, plan)));
  for (const std::string& object : plan.preload) fmt::print("preload   {}\n", object);
  for (const std::string& note : plan.notes) fmt::print("note      {}\n", note);
  for (const ExpectationSpec& spec : plan.scenario.expect) fmt::print("expects   {}\n", spec.id);
  fmt::print("seed      {}\ndigest    {}\nNothing of the job was started, and nothing was changed.\n",
             plan.seed, plan.scenario_digest);
}

// plan.json without secrets. The scenario's own text cannot be masked reliably, so it is replaced as a whole
// when anything else was masked.
Json shown(const Plan& plan) {
  const Json whole = to_json(plan);
  Json out = masked(whole);
  if (out != whole) out["text"] = kMasked;
  return out;
}

int plan_one(const Options& options) {
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "{}\n", error.to_string());
    return kExitUsage;
  };
  Result<Scenario> scenario = scenario_of(options.what);
  if (!scenario) return fail(scenario.error());
  PlanOptions plan_options;
  if (Status ok = read_options(options, *scenario, plan_options); !ok) return fail(ok.error());
  Result<Plan> plan = make_plan(*scenario, plan_options);
  if (!plan) return fail(plan.error());
  if (options.json)
    fmt::print("{}\n", shown(*plan).dump(2));
  else
    print_words(*plan);
  return kExitPass;
}

const Registration<CliCommand> kRegistration{{
    "plan",
    "Show every effect that a run would have, and change nothing",
    "  rankfault plan scenarios/crash/kill-rank.yaml\n"
    "  rankfault plan --json --tooth t1 scenarios/hang/skip-allreduce.yaml\n"
    "  rankfault plan --ranks 4 --fault rank_kill@rank=2,op=all_reduce,nth=3 -- ./my_program\n\n"
    "Exit status: 0, or 64 when the scenario is wrong.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->what.add_to(app);
      app.add_option("--tooth", options->tooth, "plan this mutation check: an id under the key teeth");
      app.add_option("--variant", options->variant, "plan this variant");
      app.add_flag("--no-faults", options->no_faults, "plan without faults, as in the reference run");
      app.add_flag("--no-bug", options->no_bug, "plan with the scenario's bug off");
      app.add_flag("--json", options->json, "print plan.json");
      return [options] { return plan_one(*options); };
    },
}};

}  // namespace
}  // namespace rankfault
