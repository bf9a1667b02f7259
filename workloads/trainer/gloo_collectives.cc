// gloo_collectives: Collectives over Gloo. Turns Gloo's exceptions into CollectiveError.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/own_sockets.h"

namespace trainer {

namespace {

constexpr uint32_t kTag = 0;

// gloo::kNoTimeout does not mean "for ever" here: it is zero, and a wait of zero ends at once.
std::chrono::milliseconds as_gloo_limit(Limit limit) { return limit.value_or(std::chrono::hours(24 * 365)); }

// Derives the kind of error from the elapsed time and the type of the exception. Gloo's messages name a
// neighbour, which is often not the culprit.
std::string kind_of(const std::exception& error, std::chrono::milliseconds elapsed, Limit limit) {
  if (limit && elapsed >= *limit) return "timeout";
  if (dynamic_cast<const gloo::IoException*>(&error)) return "peer_lost";
  return "other";
}

// Gloo's bcube all-reduce obeys the limit of the transport, and its other calls that of the context.
class Mesh : public gloo::rendezvous::Context {
 public:
  using Context::Context;

  void set_limit(std::chrono::milliseconds limit) {
    setTimeout(limit);
    transportContext_->setTimeout(limit);
  }
};

// Gloo waits for some keys with its own limit of 30 s, whatever the context's limit is: ranks may start late.
// Ranks that meet again know that all are present, and must notice a missing one sooner.
class LimitedStore : public gloo::rendezvous::Store {
 public:
  LimitedStore(gloo::rendezvous::Store& store, Limit limit) : store_(store), limit_(limit) {}

  void set(const std::string& key, const std::vector<char>& data) override { store_.set(key, data); }
  std::vector<char> get(const std::string& key) override {
    wait({key}, kDefaultTimeout);
    return store_.get(key);
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, kDefaultTimeout); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& limit) override {
    store_.wait(keys, limit_.value_or(limit));
  }

 private:
  gloo::rendezvous::Store& store_;
  Limit limit_;
};

class GlooCollectives : public Collectives {
 public:
  GlooCollectives(const Meeting& meeting, const std::string& name)
      : meeting_(meeting), rank_(meeting.rank), size_(meeting.world_size), limit_(meeting.limit) {
    if (size_ == 1) return;
    guarded("init", [&] { connect(name); });
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void sum(int64_t* numbers, size_t count) override { all_reduce(numbers, count, &gloo::sum<int64_t>); }
  void sum(float* numbers, size_t count) override { all_reduce(numbers, count, &gloo::sum<float>); }

  int64_t max(int64_t number) override {
    all_reduce(&number, 1, &gloo::max<int64_t>);
    return number;
  }

  std::vector<uint64_t> all_gather(uint64_t mine) override {
    std::vector<uint64_t> all(static_cast<size_t>(size_), mine);
    if (!mesh_) return all;
    guarded("all_gather", [&] {
      gloo::AllgatherOptions options(mesh_);
      options.setInput(&mine, 1);
      options.setOutput(all.data(), all.size());
      options.setTag(kTag);
      gloo::allgather(options);
    });
    return all;
  }

  std::vector<float> gather(const float* mine, size_t count) override {
    std::vector<float> all(static_cast<size_t>(size_) * count);
    std::copy(mine, mine + count, all.begin());
    if (!mesh_) return all;
    guarded("all_gather", [&] {
      gloo::AllgatherOptions options(mesh_);
      options.setInput(const_cast<float*>(mine), count);  // read only
      options.setOutput(all.data(), all.size());
      options.setTag(kTag);
      gloo::allgather(options);
    });
    return all;
  }

  void broadcast(void* bytes, size_t size, int root) override {
    if (!mesh_) return;
    guarded("broadcast", [&] {
      gloo::BroadcastOptions options(mesh_);
      options.setOutput(static_cast<char*>(bytes), size);
      options.setRoot(root);
      options.setTag(kTag);
      gloo::broadcast(options);
    });
  }

  void barrier() override {
    if (!mesh_) return;
    guarded("barrier", [&] {
      gloo::BarrierOptions options(mesh_);
      options.setTag(kTag);
      gloo::barrier(options);
    });
  }

  std::unique_ptr<Collectives> group(const std::string& name, const std::vector<int>& ranks) override {
    const auto me = std::find(ranks.begin(), ranks.end(), rank_);
    if (me == ranks.end()) return nullptr;
    Meeting part = meeting_;
    part.rank = static_cast<int>(me - ranks.begin());
    part.world_size = static_cast<int>(ranks.size());
    part.limit = limit_;
    return std::make_unique<GlooCollectives>(part, name);
  }

  void set_limit(Limit limit) override {
    limit_ = limit;
    if (mesh_) mesh_->set_limit(as_gloo_limit(limit));
  }

  // To close Gloo's pairs would free the peers, but not the thread that waits here: only the end of a stream
  // wakes it.
  void interrupt() override { shut_down(sockets_); }

  // The peers notice that this process's sockets close.
  void leave(int) override {}

 private:
  void connect(const std::string& name) {
    mkdir(meeting_.store.c_str(), 0700);  // the first rank makes it; a failure shows in the first write
    gloo::rendezvous::FileStore files(meeting_.store);
    LimitedStore limited(files, meeting_.to_meet);
    gloo::rendezvous::PrefixStore of_this_group(name, limited);
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    auto mesh = std::make_shared<Mesh>(rank_, size_);
    const std::set<int> before = connected_sockets();
    if (meeting_.to_meet) mesh->setTimeout(*meeting_.to_meet);
    mesh->connectFullMesh(of_this_group, device);
    for (const int socket : connected_sockets())
      if (!before.count(socket)) sockets_.insert(socket);
    mesh->set_limit(as_gloo_limit(limit_));
    mesh_ = std::move(mesh);
  }

  template <typename T>
  void all_reduce(T* numbers, size_t count, void (*reduce)(void*, const void*, const void*, size_t)) {
    if (!mesh_) return;
    guarded("all_reduce", [&] {
      gloo::AllreduceOptions options(mesh_);
      options.setOutput(numbers, count);
      options.setReduceFunction(reduce);
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);  // fewer messages than the ring
      options.setTag(kTag);
      gloo::allreduce(options);
    });
  }

  template <typename Call>
  void guarded(const char* operation, Call call) {
    const auto start = std::chrono::steady_clock::now();
    try {
      call();
    } catch (const std::exception& error) {
      const auto elapsed =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
      throw CollectiveError(kind_of(error, elapsed, limit_), std::string(operation) + " failed after " +
                                                                 std::to_string(elapsed.count()) +
                                                                 " ms: " + error.what());
    }
  }

  Meeting meeting_;
  int rank_, size_;
  Limit limit_;
  std::shared_ptr<Mesh> mesh_;  // null for one rank
  std::set<int> sockets_;       // of the mesh, for interrupt()
};

}  // namespace

std::unique_ptr<Collectives> meet(const Meeting& meeting) {
  // Gloo writes to sockets without MSG_NOSIGNAL. A write to a dead peer must be an error and must not end
  // this process.
  std::signal(SIGPIPE, SIG_IGN);
  return std::make_unique<GlooCollectives>(meeting, "world");
}

bool launcher_tells_rank() { return false; }

}  // namespace trainer
