// workload_fields: the keys of `workload`, of its limits and of its markers.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "harness/base/nccl_version.h"
#include "harness/base/suggest.h"
#include "harness/scenario/scenario_fields.h"

namespace rankfault {
namespace {

constexpr int kMostNodes = 64;
constexpr int kMostRestarts = 1000;
constexpr size_t kLongestMarker = 500;
constexpr Duration kDefaultWall = 60s;

const Words<LauncherKind>& launchers() {
  static const Words<LauncherKind> words{{"local", LauncherKind::kLocal},
                                         {"mpirun", LauncherKind::kMpirun},
                                         {"torchrun", LauncherKind::kTorchrun},
                                         {"command", LauncherKind::kCommand},
                                         {"slurm", LauncherKind::kSlurm}};
  return words;
}

const std::vector<std::string>& need_words() {
  static const std::vector<std::string> words{"gloo",  "mpi",    "openmpi4",   "openmpi5",
                                              "torch", "torch2", "torch_cuda", "nccl",
                                              "gpu",   "root",   "dev_shm",    "trainer"};
  return words;
}

void check_wall(const Limits& limits, const Key&, const Value& value, Problems& problems) {
  if (limits.wall <= Duration::zero())
    problems.add("\"wall\" must be more than 0: a limit of 0 ends the job before it begins", value.pos);
}

// The time after which a wait may be reported. With 0, each call would be reported.
template <Duration Limits::*kPatience>
void check_patience(const Limits& limits, const Key& key, const Value& value, Problems& problems) {
  if (limits.*kPatience <= Duration::zero())
    problems.add(fmt::format("\"{}\" must be more than 0", key.name), value.pos);
}

void check_limits(const Workload& workload, const Key&, const Value& value, Problems& problems) {
  const Limits& limits = workload.limits;
  if (limits.slow_after.count() && limits.hung_after.count() && limits.slow_after > limits.hung_after)
    problems.add(
        "\"slow_after\" must not be longer than \"hung_after\": a rank is slow before its job is hung",
        value.find("slow_after")->pos);
}

void check_marker(const Markers&, const Key& key, const Value& value, Problems& problems) {
  const std::string& name = key.name;
  if (value.text.size() > kLongestMarker) {  // std::regex recurses over its pattern
    problems.add(fmt::format("\"{}\" is longer than {} bytes", name, kLongestMarker), value.pos);
    return;
  }
  try {
    if (std::regex(value.text).mark_count() != 1)
      problems.add(fmt::format("\"{}\" must have exactly one group, which captures the value", name),
                   value.pos);
  } catch (const std::regex_error& e) {
    problems.add(fmt::format("\"{}\" is not a regular expression: {}", name, e.what()), value.pos);
  }
}

void check_launcher_args(const Workload& workload, const Key&, const Value& value, Problems& problems) {
  if (workload.launcher_args.empty()) return;
  if (workload.launcher == LauncherKind::kLocal)
    problems.add("the local launcher takes no \"launcher_args\"", value.pos);
  if (workload.launcher == LauncherKind::kCommand)
    problems.add("with \"launcher: command\", write the arguments into \"command\"", value.pos);
}

// The ranks of a command share its output, so that a line has no rank.
void check_markers(const Workload& workload, const Key&, const Value& value, Problems& problems) {
  if (workload.launcher == LauncherKind::kCommand)
    problems.add(
        "\"markers\" need a log for each rank, and the ranks of a command share one: let the workload mark "
        "its steps (harness/mark: rankfault_mark.py, mark.h)",
        value.pos);
}

template <LauncherKind kLauncher>
void check_only_for(const Workload& workload, const Key& key, const Value& value, Problems& problems) {
  if (workload.launcher != kLauncher && !value.text.empty())
    problems.add(fmt::format("\"{}\" is only for \"launcher: {}\"", key.name, to_text(kLauncher)), value.pos);
}

// Each node is a torchrun on this machine. All nodes have the same number of ranks.
void check_nodes(const Workload& workload, const Key& key, const Value& value, Problems& problems) {
  check_only_for<LauncherKind::kTorchrun>(workload, key, value, problems);
  if (workload.ranks % workload.nodes != 0)
    problems.add(fmt::format("{} ranks cannot be divided among {} nodes: each node must have the same number",
                             workload.ranks, workload.nodes),
                 value.pos);
}

void check_restarts(const Workload& workload, const Key&, const Value& value, Problems& problems) {
  if (workload.launcher == LauncherKind::kTorchrun && workload.restarts > 0)
    problems.add("torchrun restarts by itself: put --max-restarts into \"launcher_args\"", value.pos);
}

void check_needs(const Workload&, const Key&, const Value& value, Problems& problems) {
  const auto& known = need_words();
  for (const Value& item : *value.list())
    if (!nccl_need(item.text) && !torch_need(item.text) &&
        std::find(known.begin(), known.end(), item.text) == known.end())
      problems.add(fmt::format("unknown need \"{}\"{}", item.text, did_you_mean(item.text, known)), item.pos);
}

void check_nccl(const Workload& workload, const Key&, const Value& value, Problems& problems) {
  if (!nccl_version(workload.nccl))
    problems.add(fmt::format("\"nccl\" must be a version such as 2.22.3, not \"{}\"", workload.nccl),
                 value.pos);
  else if (!workload.cuda_double)
    problems.add("\"nccl\" selects the NCCL version over the double: it needs \"cuda: double\"", value.pos);
}

}  // namespace

const char* to_text(LauncherKind kind) { return launchers()[static_cast<size_t>(kind)].first.c_str(); }

const Fields<Limits>& fields_of(const Limits*) {
  static const Fields<Limits> fields{
      {"wall",
       &Limits::wall,
       "the time after which the job must have ended; 60s when not given",
       {},
       check_wall},
      {"slow_after",
       &Limits::slow_after,
       "the least time that others wait before an inferred finding calls a rank slow; 2s when not given",
       {},
       check_patience<&Limits::slow_after>},
      {"hung_after",
       &Limits::hung_after,
       "the least time that others wait before an inferred finding calls a rank hung; 20s when not given",
       {},
       check_patience<&Limits::hung_after>},
  };
  return fields;
}

const Fields<Markers>& fields_of(const Markers*) {
  static const Fields<Markers> fields{
      {"step_begin", &Markers::step_begin, "the number of a step that begins", {}, check_marker},
      {"step_commit", &Markers::step_commit, "the number of a step that is committed", {}, check_marker},
      {"value", &Markers::value, "a value, which gets the name log", {}, check_marker},
      {"error", &Markers::error, "the text of an error", {}, check_marker},
  };
  return fields;
}

const Fields<Workload>& fields_of(const Workload*) {
  static const Fields<Workload> fields{
      {"launcher",
       &Workload::launcher,
       launchers(),
       "what starts the ranks; local when not given",
       {.always = true}},
      {"ranks", &Workload::ranks, "the number of ranks", {.needed = true, .least = 1, .most = kMostRanks}},
      {"command",
       &Workload::command,
       "the program and its arguments; no shell reads them",
       {.needed = true, .placeholders = true, .not_empty = "write the program to run"}},
      {"launcher_args",
       &Workload::launcher_args,
       "passed to mpirun or torchrun unchanged",
       {.placeholders = true},
       check_launcher_args},
      {"mpirun",
       &Workload::mpirun,
       "with launcher: mpirun: path of the launcher program",
       {},
       check_only_for<LauncherKind::kMpirun>},
      {"nodes",
       &Workload::nodes,
       "with launcher: torchrun: how many torchruns share the ranks on this machine; 1 when not given",
       {.least = 1, .most = kMostNodes},
       check_nodes},
      {"torchrun",
       &Workload::torchrun,
       "with launcher: torchrun: path of torchrun, or of a Python that has torch",
       {},
       check_only_for<LauncherKind::kTorchrun>},
      {"env", &Workload::env, "variables that each rank gets", {.placeholders = true}},
      {"cwd", &Workload::cwd, "the working directory", {.placeholders = true}},
      {"restarts",
       &Workload::restarts,
       "how often, at most, rankfault relaunches all ranks as the next attempt; 0 when not given",
       {.most = kMostRestarts},
       check_restarts},
      {"limits", &Workload::limits, "limits of time", {}, check_limits},
      {"order_free", &Workload::order_free,
       "the values do not depend on which rank computed them: bits may be compared across world sizes"},
      {"markers",
       &Workload::markers,
       "regular expressions with one group each, over the output of the ranks",
       {},
       check_markers},
      {"needs",
       &Workload::needs,
       "what the machine must have, else the scenario is skipped (77)",
       {.shape = shape::list_of(
            shape::any_of({shape::one_of(need_words()), shape::pattern(kVersionNeedPattern)}))},
       check_needs},
      {"cuda",
       &Workload::cuda_double,
       {{"machine", false}, {"double", true}},
       "what NCCL runs over: the machine's own CUDA, which is the default, or a double without a GPU"},
      {"nccl",
       &Workload::nccl,
       "with cuda: double: the version of NCCL, as 2.22.3",
       {.shape = shape::pattern(R"(^[0-9]+(\.[0-9]+){0,2}$)")},
       check_nccl},
  };
  return fields;
}

bool read_value(const Value& value, const Key& key, Workload& out, Problems& problems) {
  out.limits.wall = kDefaultWall;
  return read_map(value, key.name, out, problems);
}

}  // namespace rankfault
