#include "harness/launch/launchers/torchrun_nodes.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/launch/gather.h"
#include "harness/launch/rank_output.h"

namespace rankfault {

bool mentions(const std::vector<std::string>& args, std::initializer_list<const char*> options) {
  return std::any_of(args.begin(), args.end(), [&](std::string arg) {
    arg = arg.substr(0, arg.find('='));
    std::replace(arg.begin(), arg.end(), '_', '-');
    return std::any_of(options.begin(), options.end(), [&](const char* option) { return arg == option; });
  });
}

// Bound but never listened on: the kernel gives another port to a process that asks for any port. The store,
// which binds with SO_REUSEADDR like this socket, can still bind this one by its number.
Result<MeetingPlace> meeting_place() {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return errno_error("socket");
  const int yes = 1;
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&any), &size) != 0)
    return errno_error("find a port for the rendezvous");
  return MeetingPlace{ntohs(any.sin_port), std::make_shared<UniqueFd>(std::move(socket))};
}

Status check_node_arguments(const Workload& workload) {
  if (workload.ranks % workload.nodes != 0)
    return usage_error(
        fmt::format("{} ranks cannot be divided among {} nodes", workload.ranks, workload.nodes),
        workload.pos);
  if (mentions(workload.launcher_args,
               {"--standalone", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--master-addr",
                "--master-port", "--node-rank", "--local-addr", "--nproc-per-node", "--log-dir"}))
    return usage_error(
        "with \"nodes\", rankfault sets the rendezvous, the ranks of each node and the logs: leave these "
        "options out",
        workload.pos);
  // One store for all attempts would have the same address for all of them.
  const auto shared = workload.env.find("TORCH_DISABLE_SHARE_RDZV_TCP_STORE");
  if (shared != workload.env.end() && shared->second != "1")
    return usage_error(
        "with \"nodes\", TORCH_DISABLE_SHARE_RDZV_TCP_STORE must be 1: each attempt needs its own store",
        workload.pos);
  return Done{};
}

std::vector<std::string> node_words(const Workload& workload, const MeetingPlace& place, int node,
                                    const std::string& log_dir) {
  // c10d assigns ranks by address, then by pid: with an address of its own, a node's place is known
  // beforehand.
  std::vector<std::string> words{"--nnodes=" + std::to_string(workload.nodes),
                                 fmt::format("--nproc_per_node={}", workload.ranks / workload.nodes),
                                 "--rdzv_backend=c10d",
                                 fmt::format("--rdzv_endpoint=127.0.0.1:{}", place.port),
                                 "--rdzv_id=rankfault",
                                 fmt::format("--local_addr=127.0.0.{}", 101 + node),
                                 "--log_dir=" + log_dir};
  // Otherwise each node would try to host the store, and the fastest would.
  const std::string host = fmt::format("is_host={}", node == 0 ? 1 : 0);
  bool given = false;
  for (size_t i = 0; i < workload.launcher_args.size(); ++i) {
    std::string word = workload.launcher_args[i];
    if (mentions({word}, {"--rdzv-conf"})) {
      if (word.find('=') == std::string::npos && i + 1 < workload.launcher_args.size())
        word += "=" + workload.launcher_args[++i];
      word += "," + host;
      given = true;
    }
    words.push_back(word);
  }
  if (!given) words.push_back("--rdzv_conf=" + host);
  return words;
}

Status collect_node_logs(const LaunchContext& context, const std::string& log_dir) {
  std::map<std::pair<int, int>, std::set<std::string>> folders;  // of (attempt, rank)
  for (const RankOutput& output : rank_outputs(context.run.records()))
    if (output.file.starts_with(log_dir + "/"))
      folders[{output.attempt, output.rank}].insert(output.file.substr(0, output.file.rfind('/')));
  for (const auto& [whose, places] : folders) {
    std::vector<std::string> sources;
    for (const std::string& folder : places)
      for (const char* stream : {"/stdout.log", "/stderr.log"}) sources.push_back(folder + stream);
    if (Status done = gather(sources, rank_log(context.run, whose.second, whose.first)); !done.ok())
      return done;
  }
  return Done{};
}

}  // namespace rankfault
