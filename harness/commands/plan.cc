// rankfault plan: a dry run: every effect a run would have, in words or as plan.json.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "harness/commands/command.h"
#include "harness/plan/plan_words.h"
#include "harness/scenario/one_line.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/scenario_parser.h"

namespace rankfault {
namespace {

struct Options {
  std::string file, launcher, wall, tooth;
  int ranks = 0;
  std::vector<std::string> faults, expects, sets, argv;
  std::string seed;
  bool json = false, no_faults = false, no_bug = false;
};

Result<Scenario> scenario_of(const Options& options) {
  if (!options.file.empty()) return load_scenario(options.file);
  if (options.argv.empty())
    return usage_error("name a scenario file, or give --ranks, --fault and a command after --");
  return scenario_from_command_line(options.ranks, options.launcher, options.faults, options.expects,
                                    options.argv, options.wall);
}

Status read_options(const Options& in, const Scenario& scenario, PlanOptions& out) {
  out.faults_on = !in.no_faults;
  out.bug_on = !in.no_bug;
  for (const std::string& text : in.sets) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return usage_error(fmt::format("--set wants key=value, not \"{}\"", text));
    out.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (!in.seed.empty()) {
    char* end = nullptr;
    out.seed = std::strtoull(in.seed.c_str(), &end, 10);
    if (*end) return usage_error(fmt::format("--seed wants a number, not \"{}\"", in.seed));
  }
  if (in.tooth.empty()) return Done{};
  std::vector<std::string> ids;
  for (const Tooth& tooth : scenario.teeth) {
    if (tooth.id == in.tooth) out.tooth = &tooth;
    ids.push_back(tooth.id);
  }
  if (out.tooth) return Done{};
  return usage_error(fmt::format("there is no tooth \"{}\"{}", in.tooth, did_you_mean(in.tooth, ids)));
}

void print_words(const Plan& plan) {
  const Workload& work = plan.scenario.workload;
  fmt::print("{}: {}\n", plan.scenario.name, plan.scenario.summary);
  fmt::print("runs      {} rank{} by {}: {}\n", work.ranks, work.ranks == 1 ? "" : "s",
             to_text(work.launcher), fmt::join(work.command, " "));
  fmt::print("limits    {} in all, {} restart{}\n", to_text(work.wall), work.restarts,
             work.restarts == 1 ? "" : "s");
  if (plan.scenario.reference_fault_free)
    fmt::print("first     once without faults, for the values to compare\n");
  if (!plan.tooth.empty()) fmt::print("tooth     {}\n", plan.tooth);
  if (plan.bug_on) fmt::print("bug       {}\n", plan.scenario.bug->stands_for);
  if (plan.actions.empty()) fmt::print("faults    none\n");
  for (const Action& action : plan.actions) fmt::print("fault     {}\n", describe(action, plan));
  for (const std::string& object : plan.preload) fmt::print("preload   {}\n", object);
  for (const std::string& note : plan.notes) fmt::print("note      {}\n", note);
  for (const ExpectationSpec& spec : plan.scenario.expect) fmt::print("expects   {}\n", spec.id);
  fmt::print("seed      {}\ndigest    {}\nNothing was started and nothing was changed.\n", plan.seed,
             plan.scenario_digest);
}

int plan_one(const Options& options) {
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "{}\n", error.to_string());
    return kExitUsage;
  };
  Result<Scenario> scenario = scenario_of(options);
  if (!scenario) return fail(scenario.error());
  PlanOptions plan_options;
  if (Status ok = read_options(options, *scenario, plan_options); !ok) return fail(ok.error());
  Result<Plan> plan = make_plan(*scenario, plan_options);
  if (!plan) return fail(plan.error());
  if (options.json)
    fmt::print("{}\n", to_json(*plan).dump(2));
  else
    print_words(*plan);
  return kExitPass;
}

const Registration<CliCommand> kRegistration{{
    "plan",
    "dry run: say every effect a run would have, and change nothing",
    "  rankfault plan scenarios/crash/kill-rank.yaml\n"
    "  rankfault plan --json --tooth t1 scenarios/hang/skip-allreduce.yaml\n"
    "  rankfault plan --ranks 4 --fault rank_kill@rank=2,op=all_reduce,nth=3 -- ./my_program\n\n"
    "Exit status: 0, or 64 when the scenario is wrong.",
    [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("--ranks", options->ranks, "one-line form: how many ranks");
      app.add_option("--launcher", options->launcher, "one-line form: local, mpirun or torchrun");
      app.add_option("--fault", options->faults, "one-line form: KIND@key=value,...")
          ->allow_extra_args(false);
      app.add_option("--expect", options->expects, "one-line form: 'oracle: {...}'")->allow_extra_args(false);
      app.add_option("--wall", options->wall, "one-line form: limit of the whole run, as 60s");
      app.add_option("--tooth", options->tooth, "with this tooth on");
      app.add_option("--set", options->sets, "change one place: faults.ID.at.nth=5")->allow_extra_args(false);
      app.add_option("--seed", options->seed, "for every choice that is drawn");
      app.add_flag("--no-faults", options->no_faults, "as the reference runs it");
      app.add_flag("--no-bug", options->no_bug, "with the scenario's bug off");
      app.add_flag("--json", options->json, "print plan.json");
      app.add_option("words", options->argv, "a scenario file, or the command after --");
      return [options] {
        if (options->ranks == 0 && options->faults.empty() && options->argv.size() == 1)
          options->file = options->argv[0];
        return plan_one(*options);
      };
    },
}};

}  // namespace
}  // namespace rankfault
