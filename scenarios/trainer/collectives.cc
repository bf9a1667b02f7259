// Collectives: calls Gloo; its exceptions stop here.
#include "scenarios/trainer/collectives.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/stat.h>

namespace trainer {

namespace {

constexpr uint32_t kTag = 0;

// What went wrong is told by what was seen: the time that passed and the type of the exception.
// Gloo's texts name a neighbour, often not the culprit.
std::string kind_of(const std::exception& error, std::chrono::milliseconds elapsed,
                    std::optional<std::chrono::milliseconds> timeout) {
  if (timeout && elapsed >= *timeout) return "timeout";
  if (dynamic_cast<const gloo::IoException*>(&error)) return "peer_lost";
  return "other";
}

// Gloo's bcube all-reduce obeys the transport's limit, its other calls that of the context.
class Mesh : public gloo::rendezvous::Context {
 public:
  using Context::Context;

  void set_limit(std::chrono::milliseconds limit) {
    setTimeout(limit);
    transportContext_->setTimeout(limit);
  }
};

// Meeting the others has Gloo's own limit of 30 s: ranks may start late.
std::shared_ptr<gloo::Context> connect(int rank, int world_size, const std::string& store,
                                       std::chrono::milliseconds limit) {
  mkdir(store.c_str(), 0700);  // whoever comes first; a failure shows in the first write
  gloo::rendezvous::FileStore files(store);
  auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
  auto mesh = std::make_shared<Mesh>(rank, world_size);
  mesh->connectFullMesh(files, device);
  mesh->set_limit(limit);
  return mesh;
}

}  // namespace

template <typename Call>
void Collectives::guarded(const char* operation, Call call) {
  const auto start = std::chrono::steady_clock::now();
  try {
    call();
  } catch (const std::exception& error) {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    throw CollectiveError(
        kind_of(error, elapsed, timeout_),
        std::string(operation) + " failed after " + std::to_string(elapsed.count()) + " ms: " + error.what());
  }
}

Collectives::Collectives(int rank, int world_size, const std::string& store,
                         std::optional<std::chrono::milliseconds> timeout)
    : world_size_(world_size), timeout_(timeout) {
  if (world_size == 1) return;
  // Not gloo::kNoTimeout: that is zero, and a wait of zero is over at once.
  const auto limit = timeout.value_or(std::chrono::hours(24 * 365));
  guarded("init", [&] { context_ = connect(rank, world_size, store, limit); });
}

Collectives::~Collectives() = default;

template <typename T>
static void all_reduce(const std::shared_ptr<gloo::Context>& context, T* numbers, size_t count,
                       void (*reduce)(void*, const void*, const void*, size_t)) {
  gloo::AllreduceOptions options(context);
  options.setOutput(numbers, count);
  options.setReduceFunction(reduce);
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);  // fewer messages than the ring
  options.setTag(kTag);
  gloo::allreduce(options);
}

void Collectives::sum(int64_t* numbers, size_t count) {
  if (!context_) return;
  guarded("all_reduce", [&] { all_reduce<int64_t>(context_, numbers, count, &gloo::sum<int64_t>); });
}

void Collectives::sum(float* numbers, size_t count) {
  if (!context_) return;
  guarded("all_reduce", [&] { all_reduce<float>(context_, numbers, count, &gloo::sum<float>); });
}

int64_t Collectives::max(int64_t number) {
  if (!context_) return number;
  guarded("all_reduce", [&] { all_reduce<int64_t>(context_, &number, 1, &gloo::max<int64_t>); });
  return number;
}

std::vector<uint64_t> Collectives::all_gather(uint64_t mine) {
  std::vector<uint64_t> all(world_size_, mine);
  if (!context_) return all;
  guarded("all_gather", [&] {
    gloo::AllgatherOptions options(context_);
    options.setInput(&mine, 1);
    options.setOutput(all.data(), all.size());
    options.setTag(kTag);
    gloo::allgather(options);
  });
  return all;
}

void Collectives::broadcast_from_0(void* bytes, size_t size) {
  if (!context_) return;
  guarded("broadcast", [&] {
    gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(bytes), size);
    options.setRoot(0);
    options.setTag(kTag);
    gloo::broadcast(options);
  });
}

void Collectives::barrier() {
  if (!context_) return;
  guarded("barrier", [&] {
    gloo::BarrierOptions options(context_);
    options.setTag(kTag);
    gloo::barrier(options);
  });
}

}  // namespace trainer
