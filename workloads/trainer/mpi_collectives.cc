// mpi_collectives: Collectives over MPI. MPI has no limit for a collective, so each call starts a
// non-blocking one and polls until it is complete or its limit has passed. A request that is past its limit
// stays open, and its communicator cannot be used afterwards. The only way out is MPI_Abort, which ends every
// rank of the job.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "workloads/trainer/collectives.h"

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollsBeforeSleep = 200;       // a call that all ranks have entered completes within them
constexpr timespec kSleep = {0, 50 * 1000};  // a longer wait leaves the core to the other ranks

// Only a library with MPI-5's fault tolerance has an error class for a lost peer.
std::string kind_of(int code) {
#ifdef MPIX_ERR_PROC_FAILED
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  if (error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED) return "peer_lost";
#else
  (void)code;
#endif
  return "other";
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

class MpiCollectives : public Collectives {
 public:
  MpiCollectives(MPI_Comm comm, bool is_world, Limit limit)
      : comm_(comm), is_world_(is_world), limit_(limit) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  ~MpiCollectives() override {
    if (broken_) return;  // MPI_Finalize and MPI_Comm_free would wait for calls that never complete
    if (is_world_)
      MPI_Finalize();
    else
      MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void sum(int64_t* numbers, size_t count) override { all_reduce(numbers, count, MPI_INT64_T, MPI_SUM); }
  void sum(float* numbers, size_t count) override { all_reduce(numbers, count, MPI_FLOAT, MPI_SUM); }

  int64_t max(int64_t number) override {
    all_reduce(&number, 1, MPI_INT64_T, MPI_MAX);
    return number;
  }

  std::vector<uint64_t> all_gather(uint64_t mine) override {
    std::vector<uint64_t> all(static_cast<size_t>(size_));
    complete("all_gather", [&](MPI_Request* request) {
      return MPI_Iallgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm_, request);
    });
    return all;
  }

  std::vector<float> gather(const float* mine, size_t count) override {
    std::vector<float> all(static_cast<size_t>(size_) * count);
    complete("all_gather", [&](MPI_Request* request) {
      return MPI_Iallgather(mine, static_cast<int>(count), MPI_FLOAT, all.data(), static_cast<int>(count),
                            MPI_FLOAT, comm_, request);
    });
    return all;
  }

  void broadcast(void* bytes, size_t size, int root) override {
    complete("broadcast", [&](MPI_Request* request) {
      return MPI_Ibcast(bytes, static_cast<int>(size), MPI_BYTE, root, comm_, request);
    });
  }

  void barrier() override {
    complete("barrier", [&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); });
  }

  std::unique_ptr<Collectives> group(const std::string&, const std::vector<int>& ranks) override {
    const auto me = std::find(ranks.begin(), ranks.end(), rank_);
    const bool is_member = me != ranks.end();
    MPI_Comm part = MPI_COMM_NULL;
    if (const int code = MPI_Comm_split(comm_, is_member ? 0 : MPI_UNDEFINED,
                                        is_member ? static_cast<int>(me - ranks.begin()) : 0, &part))
      fail("comm_split", kind_of(code), text_of(code));
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCollectives>(part, false, limit_);
  }

  void set_limit(Limit limit) override { limit_ = limit; }

  void interrupt() override { interrupted_ = true; }

  void leave(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  template <typename T>
  void all_reduce(T* numbers, size_t count, MPI_Datatype type, MPI_Op op) {
    complete("all_reduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, numbers, static_cast<int>(count), type, op, comm_, request);
    });
  }

  template <typename Start>
  void complete(const char* operation, Start start) {
    if (broken_) fail(operation, "other", "an earlier call on this communicator never completed");
    const Clock::time_point began = Clock::now();
    MPI_Request request = MPI_REQUEST_NULL;
    int code = start(&request), done = 0;
    for (int polls = 0; code == MPI_SUCCESS; ++polls) {
      code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done || code != MPI_SUCCESS) break;
      if (polls < kPollsBeforeSleep) continue;
      const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
      if (limit_ && elapsed >= *limit_) fail(operation, "timeout", std::to_string(elapsed.count()) + " ms");
      if (interrupted_)
        fail(operation, "timeout", "interrupted after " + std::to_string(elapsed.count()) + " ms");
      nanosleep(&kSleep, nullptr);
    }
    if (code != MPI_SUCCESS) fail(operation, kind_of(code), text_of(code));
  }

  [[noreturn]] void fail(const char* operation, const std::string& kind, const std::string& text) {
    broken_ = true;
    throw CollectiveError(kind, std::string(operation) + " failed: " + text);
  }

  MPI_Comm comm_;
  bool is_world_, broken_ = false;
  int rank_ = 0, size_ = 1;
  Limit limit_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

// MPI_Init has no limit; mpirun has one for it.
std::unique_ptr<Collectives> meet(const Meeting& meeting) {
  int provided = 0;
  if (const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided))
    throw CollectiveError("other", "init failed: " + text_of(code));
  return std::make_unique<MpiCollectives>(MPI_COMM_WORLD, true, meeting.limit);
}

bool launcher_tells_rank() { return true; }

}  // namespace trainer
