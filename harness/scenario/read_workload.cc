// read_workload: reads the command, the number of ranks, the launcher and the limits.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "harness/base/nccl_version.h"
#include "harness/base/suggest.h"
#include "harness/scenario/placeholders.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

constexpr int kMostRanks = 16384;
constexpr int kMostNodes = 64;
constexpr size_t kLongestMarker = 500;
constexpr Duration kDefaultWall = std::chrono::seconds(60);

void read_launcher(MapReader& in, LauncherKind& out) {
  std::string word;
  if (!in.text("launcher", word)) return;
  const std::vector<std::string>& known = launcher_words();
  const auto found = std::find(known.begin(), known.end(), word);
  if (found == known.end())
    in.problems().add(fmt::format("unknown launcher \"{}\"{}; write local, mpirun or torchrun", word,
                                  did_you_mean(word, known)),
                      in.value().find("launcher")->pos);
  else
    out = static_cast<LauncherKind>(found - known.begin());
}

// The time after which a wait may be reported. It must be positive: with 0, each call would be reported.
void read_patience(MapReader& in, const char* key, Duration& out) {
  if (in.duration(key, out) && out <= Duration::zero())
    in.problems().add(fmt::format("\"{}\" must be more than 0", key), in.value().find(key)->pos);
}

void read_limits(MapReader& in, Workload& out) {
  out.wall = kDefaultWall;
  const Value* limits = in.find("limits");
  if (!limits) return;
  MapReader reader(*limits, "limits", in.problems());
  if (reader.duration("wall", out.wall) && out.wall <= Duration::zero())
    in.problems().add("\"wall\" must be more than 0: a limit of 0 ends the job before it begins",
                      limits->find("wall")->pos);
  read_patience(reader, "slow_after", out.slow_after);
  read_patience(reader, "hung_after", out.hung_after);
  if (out.slow_after.count() && out.hung_after.count() && out.slow_after > out.hung_after)
    in.problems().add(
        "\"slow_after\" must not be longer than \"hung_after\": a rank is slow before its job is hung",
        limits->find("slow_after")->pos);
  reader.finish();
}

void read_marker(MapReader& in, const char* key, std::string& out) {
  if (!in.text(key, out)) return;
  const SourcePos& at = in.value().find(key)->pos;
  if (out.size() > kLongestMarker) {  // std::regex recurses over its pattern
    in.problems().add(fmt::format("\"{}\" is longer than {} bytes", key, kLongestMarker), at);
    return;
  }
  try {
    if (std::regex(out).mark_count() != 1)
      in.problems().add(fmt::format("\"{}\" must have exactly one group, which captures the value", key), at);
  } catch (const std::regex_error& e) {
    in.problems().add(fmt::format("\"{}\" is not a regular expression: {}", key, e.what()), at);
  }
}

void read_markers(MapReader& in, Markers& out) {
  const Value* markers = in.find("markers");
  if (!markers) return;
  MapReader reader(*markers, "markers", in.problems());
  read_marker(reader, "step_begin", out.step_begin);
  read_marker(reader, "step_commit", out.step_commit);
  read_marker(reader, "value", out.value);
  read_marker(reader, "error", out.error);
  reader.finish();
}

void read_needs(MapReader& in, std::vector<std::string>& out) {
  if (!in.texts("needs", out)) return;
  for (const Value& item : *in.value().find("needs")->list()) {
    bool known = nccl_need(item.text).has_value();
    for (const std::string& word : need_words()) known |= word == item.text;
    if (!known)
      in.problems().add(
          fmt::format("unknown need \"{}\"{}", item.text, did_you_mean(item.text, need_words())), item.pos);
  }
}

void read_cuda(MapReader& in, Workload& out) {
  std::string word;
  if (in.text("cuda", word) && !(out.cuda_double = word == "double") && word != "machine")
    in.problems().add(fmt::format("\"cuda\" must be machine or double, not \"{}\"", word),
                      in.value().find("cuda")->pos);
  if (!in.text("nccl", out.nccl)) return;
  const SourcePos& at = in.value().find("nccl")->pos;
  const auto version = nccl_version(out.nccl);
  if (!version)
    in.problems().add(fmt::format("\"nccl\" must be a version such as 2.22.3, not \"{}\"", out.nccl), at);
  else if (!out.cuda_double)
    in.problems().add("\"nccl\" selects the NCCL version over the double: it needs \"cuda: double\"", at);
}

// Each node is a torchrun on this machine. All nodes have the same number of ranks.
void read_nodes(MapReader& in, Workload& out) {
  if (!in.number("nodes", out.nodes, 1, kMostNodes)) return;
  const SourcePos& at = in.value().find("nodes")->pos;
  if (out.launcher != LauncherKind::kTorchrun)
    in.problems().add("\"nodes\" is only for \"launcher: torchrun\"", at);
  if (out.ranks % out.nodes != 0)
    in.problems().add(
        fmt::format("{} ranks cannot be divided among {} nodes: each node must have the same number",
                    out.ranks, out.nodes),
        at);
}

}  // namespace

const std::vector<std::string>& need_words() {
  static const std::vector<std::string> words{"gloo", "mpi", "openmpi4", "openmpi5", "torch",
                                              "nccl", "gpu", "root",     "dev_shm",  "trainer"};
  return words;
}

const std::vector<std::string>& launcher_words() {
  static const std::vector<std::string> words{"local", "mpirun", "torchrun"};
  return words;
}

const char* to_text(LauncherKind kind) { return launcher_words()[static_cast<size_t>(kind)].c_str(); }

void read_workload(const Value& value, Workload& out, Problems& problems) {
  MapReader in(value, "workload", problems);
  if (!value.map()) return;
  out.pos = value.pos;
  read_launcher(in, out.launcher);
  if (in.need("ranks")) in.number("ranks", out.ranks, 1, kMostRanks);
  if (const Value* command = in.need("command"); command && in.texts("command", out.command))
    if (out.command.empty()) problems.add("\"command\" is empty: write the program to run", command->pos);
  in.texts("launcher_args", out.launcher_args);
  const char* const no_rank = why_no_rank(out.launcher);
  for (const char* key : {"command", "launcher_args", "env"})
    if (const Value* words = in.value().find(key)) check_placeholders(*words, problems, no_rank);
  if (const Value* cwd = in.value().find("cwd")) check_placeholders(cwd->text, cwd->pos, problems, no_rank);
  in.text("mpirun", out.mpirun);
  in.text("torchrun", out.torchrun);
  read_nodes(in, out);
  in.text_map("env", out.env);
  in.text("cwd", out.cwd);
  in.number("restarts", out.restarts, 0, 1000);
  read_limits(in, out);
  in.flag("order_free", out.order_free);
  read_markers(in, out.markers);
  read_needs(in, out.needs);
  read_cuda(in, out);
  in.finish();
  if (out.launcher == LauncherKind::kLocal && !out.launcher_args.empty())
    problems.add("the local launcher takes no \"launcher_args\"", value.find("launcher_args")->pos);
  if (out.launcher != LauncherKind::kMpirun && !out.mpirun.empty())
    problems.add("\"mpirun\" is only for \"launcher: mpirun\"", value.find("mpirun")->pos);
  if (out.launcher != LauncherKind::kTorchrun && !out.torchrun.empty())
    problems.add("\"torchrun\" is only for \"launcher: torchrun\"", value.find("torchrun")->pos);
  if (out.launcher == LauncherKind::kTorchrun && out.restarts > 0)
    problems.add("torchrun restarts by itself: put --max-restarts into \"launcher_args\"",
                 value.find("restarts")->pos);
}

}  // namespace rankfault
