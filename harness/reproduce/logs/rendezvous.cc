// rendezvous: stores and rendezvous of PyTorch and Gloo that gave up: not all ranks joined.
#include <algorithm>

#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kInit = "Timed out initializing process group";
constexpr std::string_view kClients = " seconds waiting for ";
constexpr std::string_view kWait = "wait timeout after ";
constexpr std::string_view kGlooWait = "Wait timeout for key(s): ";
constexpr std::string_view kUniqueId = "is setting up NCCL communicator and retrieving ncclUniqueId from [";
constexpr std::string_view kSocket = "Socket Timeout";
constexpr std::string_view kClient = "The client socket has timed out after ";
constexpr std::string_view kConnect = "The client socket has failed to connect to any network address of ";
constexpr std::string_view kElastic = "RendezvousTimeoutError";
constexpr std::string_view kServer = "Did the remote server shutdown or crash?";
constexpr std::string_view kStore = " failed on SocketImpl(";

std::string joined(int64_t some, int64_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " joined";
}

class Rendezvous : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kInit,   kClients, kWait,    kGlooWait, kUniqueId, kSocket,
            kClient, kConnect, kElastic, kServer,   kStore};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    // Each line gives one clue: the first that fits says the most.
    if (barrier(line, clues) || unique_id(line, clues) || clients(line, clues) || keys(line, clues) ||
        client(line, clues) || store(line, clues))
      return;
    for (const std::string_view words : {kElastic, kServer, kSocket}) {
      const size_t at = line.text.find(words);
      if (at == std::string::npos) continue;
      // "Socket Timeout" alone is a word of others, too.
      if (words == kSocket && line.text.find("rror") > at) continue;
      Clue clue = clue_at(line, words == kServer ? 0 : at,
                          words == kServer ? ClueKind::kPeerLost : ClueKind::kNotJoined);
      clue.reason = words == kServer ? "the store's server closed the connection" : words;
      clues.push_back(std::move(clue));
      return;
    }
  }

 private:
  // "... in store based barrier on rank: 2, for key: store_based_barrier_key:1 (world_size=4, worker_count=3,
  // timeout=0:30:00)"; "on rank 2" and num_workers_joined in newer versions.
  static bool barrier(const LogLine& line, std::vector<Clue>& clues) {
    const size_t at = line.text.find(kInit);
    if (at == std::string::npos) return false;
    const std::string_view message = std::string_view(line.text).substr(at);
    Clue clue = clue_at(line, at, ClueKind::kNotJoined);
    Scan rank(message);
    if (rank.find("on rank: ") || rank.find("on rank ")) say_rank(clue, as_int(rank.number()));
    clue.world_size = as_int(number_after(message, "world_size="));
    int64_t some = number_after(message, "worker_count=");
    if (some < 0) some = number_after(message, "num_workers_joined=");
    if (some >= 0 && clue.world_size > 0) clue.reason = joined(some, clue.world_size);
    if (Scan limit(message); limit.find("timeout=")) clue.limit_ms = timedelta_ms(limit.rest());
    if (Scan key(message); key.find("for key: ")) clue.path = message_text(key.until(" ("), 0);
    clues.push_back(std::move(clue));
    return true;
  }

  // "[7] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key
  // '0', but store->get('0') got error: ..."
  static bool unique_id(const LogLine& line, std::vector<Clue>& clues) {
    const size_t at = line.text.find(kUniqueId);
    if (at == std::string::npos) return false;
    const size_t open = line.text.substr(0, at).rfind('[');  // or it was taken for a prefix
    Clue clue = clue_at(line, open == std::string::npos ? at : open, ClueKind::kNotJoined);
    const int writer = open == std::string::npos ? line.rank : as_int(Scan(line.text, open + 1).number());
    const int root = as_int(Scan(line.text, at + kUniqueId.size()).number());
    clue.group_rank = writer;
    say_rank(clue, writer);
    if (root >= 0) clue.about = {root};
    if (Scan key(line.text); key.find("by key '")) clue.path = message_text(key.until("'"), 0);
    if (Scan error(line.text); error.find("got error: ")) clue.reason = message_text(error.rest(), 0);
    clue.limit_ms = number_after(line.text, kWait);
    clues.push_back(std::move(clue));
    return true;
  }

  // "Timed out after 61 seconds waiting for clients. 3/4 clients joined."
  static bool clients(const LogLine& line, std::vector<Clue>& clues) {
    constexpr std::string_view kBegin = "Timed out after ";
    const size_t at = line.text.find(kBegin);
    if (at == std::string::npos) return false;
    Scan scan(line.text, at + kBegin.size());
    const std::optional<int64_t> seconds = scan.number();
    if (!seconds || *seconds < 0 || *seconds > INT32_MAX || !scan.skip(kClients)) return false;
    if (!scan.skip("clients. ") && !scan.skip("workers. ")) return false;
    const int some = as_int(scan.number());
    const int all = scan.skip("/") ? as_int(scan.number()) : -1;
    Clue clue = clue_at(line, at, ClueKind::kNotJoined);
    clue.limit_ms = *seconds * 1000;
    clue.world_size = all;
    if (some >= 0 && all > 0) clue.reason = joined(some, all);
    clues.push_back(std::move(clue));
    return true;
  }

  // "wait timeout after 300000ms, keys: /default_pg/0//cpu//0/2": Gloo's last part is the rank that it waits
  // for.
  static bool keys(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t wait = text.find(kWait), gloo = text.find(kGlooWait);
    if (wait == std::string_view::npos && gloo == std::string_view::npos) return false;
    const size_t at = std::min(wait, gloo);
    Clue clue = clue_at(line, at, ClueKind::kNotJoined);
    Scan scan(text, at);
    if (wait == at) {
      scan.skip(kWait);
      clue.limit_ms = scan.number().value_or(-1);
      if (!scan.skip("ms, keys: ")) return false;
    } else {
      scan.skip(kGlooWait);
    }
    const std::string_view rest = scan.rest();
    clue.path = message_text(rest.substr(0, rest.find(' ')), 0);
    clue.reason = "a key of the store is missing";
    constexpr std::string_view kMesh = "//cpu//";
    if (gloo == at) {  // "world/2": what Gloo's connectFullMesh waits for
      const size_t slash = clue.path.rfind('/');
      Scan key(clue.path, slash == std::string::npos ? 0 : slash + 1);
      if (const int rank = as_int(key.number()); rank >= 0 && key.rest().empty()) clue.about = {rank};
    }
    if (const size_t mesh = clue.path.find(kMesh);
        mesh != std::string::npos && clue.path.find(',') == std::string::npos) {
      Scan key(clue.path, mesh + kMesh.size());
      if (key.number() && key.skip("/"))
        if (const int rank = as_int(key.number()); rank >= 0 && key.rest().empty()) clue.about = {rank};
    }
    clues.push_back(std::move(clue));
    return true;
  }

  // "The client socket has timed out after 60000ms while trying to connect to (host, 29500)."
  static bool client(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    for (const std::string_view words : {kClient, kConnect}) {
      const size_t at = text.find(words);
      if (at == std::string_view::npos) continue;
      Clue clue = clue_at(line, at, ClueKind::kNotJoined);
      Scan scan(text, at + words.size());
      if (words == kClient) {
        const std::optional<int64_t> limit = scan.number();
        if (limit && *limit >= 0 && *limit < INT64_MAX / 1000)
          clue.limit_ms = scan.skip("s") ? *limit * 1000 : *limit;
      }
      if (scan.find("(")) clue.path = message_text(scan.until(")"), 0);
      clue.reason = "no connection to the store";
      clues.push_back(std::move(clue));
      return true;
    }
    return false;
  }

  // "[c10d] recvValueWithTimeout failed on SocketImpl(fd=3, ...): Connection reset by peer"
  static bool store(const LogLine& line, std::vector<Clue>& clues) {
    const size_t at = line.text.find(kStore);
    if (at == std::string::npos) return false;
    const size_t word = at == 0 ? 0 : line.text.rfind(' ', at - 1);
    Clue clue = clue_at(line, word == std::string::npos ? 0 : word, ClueKind::kPeerLost);
    clue.reason = "the connection to the store broke";
    if (Scan why(line.text, at); why.find("): ")) clue.reason += ": " + message_text(why.rest(), 0);
    clues.push_back(std::move(clue));
    return true;
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"rendezvous", "stores and rendezvous that gave up, with how many ranks had joined",
     [] { return std::unique_ptr<ClueReader>(new Rendezvous); }}};

}  // namespace
}  // namespace rankfault
