// rank.h: what every Gloo rank program needs: its rank, flags, a context over files and loopback, counts.
#ifndef RANKFAULT_TESTS_RANKS_GLOO_RANK_H
#define RANKFAULT_TESTS_RANKS_GLOO_RANK_H

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

struct Rank {
  int rank = atoi(getenv("RANK") ? getenv("RANK") : "0");
  int size = atoi(getenv("WORLD_SIZE") ? getenv("WORLD_SIZE") : "1");
  std::map<std::string, std::string> flags;
  std::map<std::string, int> counts;  // counted by this program itself, by operation

  std::string flag(const std::string& name, const std::string& otherwise) const {
    const auto found = flags.find(name);
    return found == flags.end() ? otherwise : found->second;
  }
  int number(const std::string& name, int otherwise) const {
    return atoi(flag(name, std::to_string(otherwise)).c_str());
  }
  // Reads "1s", "500ms".
  std::chrono::milliseconds duration(const std::string& name, const std::string& otherwise) const {
    const std::string text = flag(name, otherwise);
    const bool ms = text.size() > 2 && text.substr(text.size() - 2) == "ms";
    return std::chrono::milliseconds(static_cast<int>(atof(text.c_str()) * (ms ? 1 : 1000)));
  }
  // A full mesh of `members` ranks, in which this rank is `index`. `name` distinguishes two meshes.
  std::shared_ptr<gloo::rendezvous::Context> connect(const std::string& name, int index, int members) const {
    const char* tmp = getenv("TMPDIR");
    const char* attempt = getenv("RANKFAULT_ATTEMPT");
    const std::string path =
        flag("store", std::string(tmp ? tmp : "/tmp") + "/gloo-store" + (attempt ? attempt : ""));
    mkdir(path.c_str(), 0700);  // the first rank makes it
    gloo::transport::tcp::attr attr("127.0.0.1");
    auto device = gloo::transport::tcp::CreateDevice(attr);
    gloo::rendezvous::FileStore files(path);
    gloo::rendezvous::PrefixStore store(name, files);
    auto context = std::make_shared<gloo::rendezvous::Context>(index, members);
    context->setTimeout(duration("timeout", "5s"));
    context->connectFullMesh(store, device);
    return context;
  }
  std::shared_ptr<gloo::rendezvous::Context> world() const { return connect("world", rank, size); }
};

// Runs `body` and prints the counts as one line of JSON. Exit code 3: Gloo threw.
inline int run_rank(int argc, char** argv, const std::function<void(Rank&)>& body) {
  Rank me;
  signal(SIGPIPE, SIG_IGN);  // a peer that has ended gives an exception, as in Python
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const size_t equals = arg.find('=');
    if (arg.rfind("--", 0) != 0) return fprintf(stderr, "not a flag: %s\n", argv[i]), 64;
    me.flags[arg.substr(2, equals - 2)] = equals == std::string::npos ? "1" : arg.substr(equals + 1);
  }
  int code = 0;
  try {
    body(me);
  } catch (const std::exception& error) {
    fprintf(stderr, "rank %d: %s\n", me.rank, error.what());
    code = 3;
  }
  std::string line = "{\"rank\": " + std::to_string(me.rank) + ", \"counts\": {";
  for (const auto& [op, n] : me.counts)
    line += (line.back() == '{' ? "\"" : ", \"") + op + "\": " + std::to_string(n);
  printf("%s}}\n", line.c_str());
  fflush(stdout);
  return code;
}

#endif  // RANKFAULT_TESTS_RANKS_GLOO_RANK_H
