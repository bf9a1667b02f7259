// nccl_collectives: Collectives over NCCL, on one stream. Each wait has a limit, because NCCL has none and
// does not report a peer that is dead or in another call. A broken communicator is aborted, and the ranks
// meet again or shrink it.
#include <algorithm>
#include <utility>

#include "workloads/trainer/nccl_communicator.h"
#include "workloads/trainer/nccl_meeting.h"
#include "workloads/trainer/nccl_stage.h"

namespace trainer {

namespace {

class NcclCollectives : public Collectives {
 public:
  NcclCollectives(const Meeting& meeting, std::shared_ptr<NcclJob> job,
                  std::unique_ptr<NcclCommunicator> communicator)
      : rank_(meeting.rank),
        size_(meeting.world_size),
        limit_(meeting.limit),
        to_meet_(meeting.to_meet),
        job_(std::move(job)),
        communicator_(std::move(communicator)) {
    if (size_ > 1) stage_ = std::make_unique<NcclStage>();
    wait_for_all();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void sum(int64_t* numbers, size_t count) override { all_reduce(numbers, count, ncclInt64, ncclSum); }
  void sum(float* numbers, size_t count) override { all_reduce(numbers, count, ncclFloat32, ncclSum); }

  int64_t max(int64_t number) override {
    all_reduce(&number, 1, ncclInt64, ncclMax);
    return number;
  }

  std::vector<uint64_t> all_gather(uint64_t mine) override {
    std::vector<uint64_t> all(static_cast<size_t>(size_), mine);
    gather_into(all.data(), &mine, 1, ncclUint64);
    return all;
  }

  std::vector<float> gather(const float* mine, size_t count) override {
    std::vector<float> all(static_cast<size_t>(size_) * count);
    std::copy(mine, mine + count, all.begin());
    gather_into(all.data(), mine, count, ncclFloat32);
    return all;
  }

  void broadcast(void* bytes, size_t size, int root) override {
    complete("broadcast", bytes, size, [&](char* device) {
      return ncclBroadcast(device, device, size, ncclUint8, root, communicator_->get(), stage_->stream());
    });
  }

  // NCCL has no barrier: this is a sum of one number, whose result is not used.
  void barrier() override {
    int32_t one = 1;
    all_reduce(&one, 1, ncclInt32, ncclSum, "barrier");
  }

  std::unique_ptr<Collectives> group(const std::string&, const std::vector<int>& ranks) override {
    const auto me = std::find(ranks.begin(), ranks.end(), rank_);
    const bool is_member = me != ranks.end();
    const int place = static_cast<int>(me - ranks.begin());
    std::unique_ptr<NcclCommunicator> part;
    if (ranks.size() > 1) part = communicator_->split(is_member, place, to_meet_);
    std::unique_ptr<Collectives> made;
    if (is_member)
      made = std::make_unique<NcclCollectives>(
          Meeting{place, static_cast<int>(ranks.size()), "", limit_, to_meet_}, job_, std::move(part));
    if (ranks.size() > 1) wait_for_all();
    return made;
  }

  std::unique_ptr<Collectives> without(const std::vector<int>& lost, Shrinking how,
                                       const Meeting& meeting) override {
    if (how == Shrinking::kRevoke) communicator_->revoke(meeting.to_meet);
    const std::shared_ptr<NcclJob> job = job_of(meeting);
    auto rest = communicator_->shrink(lost, how == Shrinking::kAbort, meeting.to_meet, job);
    return std::make_unique<NcclCollectives>(meeting, job, std::move(rest));
  }

  void set_limit(Limit limit) override { limit_ = limit; }

  // The waiting thread checks this flag.
  void interrupt() override { job_->interrupted = true; }

  // The other ranks do not notice an abort: each needs its own limit, or reads the failure in the store.
  void leave(int) override {
    job_->broken = true;
    NcclCommunicator::abort_all(*job_);
  }

 private:
  // NCCL completes a new communicator at different times on different ranks, and at once on a rank that is
  // not a member. It connects the ranks in their first call. The limit of calls is too short for that, so
  // this first call has the limit of a meeting.
  void wait_for_all() {
    const Limit of_calls = std::exchange(limit_, to_meet_);
    int32_t one = 1;
    all_reduce(&one, 1, ncclInt32, ncclSum, "init");
    limit_ = of_calls;
  }

  template <typename T>
  void all_reduce(T* numbers, size_t count, ncclDataType_t type, ncclRedOp_t op,
                  const char* operation = "all_reduce") {
    const size_t size = count * sizeof(T);
    complete(operation, numbers, size, [&](char* device) {
      return ncclAllReduce(device, device, count, type, op, communicator_->get(), stage_->stream());
    });
  }

  // In place: copies this rank's part to its place in `all`.
  template <typename T>
  void gather_into(T* all, const T* mine, size_t count, ncclDataType_t type) {
    const size_t part = count * sizeof(T), size = part * static_cast<size_t>(size_);
    std::copy(mine, mine + count, all + count * static_cast<size_t>(rank_));
    complete("all_gather", all, size, [&](char* device) {
      return ncclAllGather(device + part * static_cast<size_t>(rank_), device, count, type,
                           communicator_->get(), stage_->stream());
    });
  }

  // Copies to the device, makes the call, copies back, and waits until all of it is complete.
  template <typename Call>
  void complete(const char* operation, void* numbers, size_t size, Call call) {
    if (!communicator_) return;
    Patience patience(operation, limit_, *job_);
    if (job_->broken) patience.fail("other", "an earlier call of this job never completed");
    stage_->begin(numbers, size, patience);
    communicator_->settle(call(stage_->device()), patience);
    stage_->give_back(size, patience);
    for (; !stage_->drained(patience); patience.pause()) communicator_->look(patience);
    stage_->take(numbers, size);
  }

  int rank_, size_;
  Limit limit_, to_meet_;
  std::shared_ptr<NcclJob> job_;
  std::unique_ptr<NcclStage> stage_;                // freed after the communicator
  std::unique_ptr<NcclCommunicator> communicator_;  // null for one rank
};

}  // namespace

std::unique_ptr<Collectives> meet(const Meeting& meeting) {
  const std::shared_ptr<NcclJob> job = job_of(meeting);
  std::unique_ptr<NcclCommunicator> world;
  if (meeting.world_size > 1) {
    use_device_of(meeting.rank);
    world = NcclCommunicator::meet(exchange_id(meeting, *job), meeting.rank, meeting.world_size,
                                   meeting.to_meet, job);
  }
  return std::make_unique<NcclCollectives>(meeting, job, std::move(world));
}

bool launcher_tells_rank() { return false; }

}  // namespace trainer
