// NcclCommunicator: polls NCCL's state after every call while the state is "in progress".
//
// Looks up functions that are newer than NCCL 2.22 by name, so that one program runs with all versions.
#include "workloads/trainer/nccl_communicator.h"

#include <dlfcn.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace trainer {

namespace {

constexpr std::chrono::seconds kToFinalize(5);  // all ranks are present here; a broken job is not finalized
constexpr int kShrinkDefault = 0, kShrinkAbort = 1;
using Shrink = ncclResult_t(ncclComm_t, int*, int, ncclComm_t*, ncclConfig_t*, int);
using Revoke = ncclResult_t(ncclComm_t, int);

std::string kind_of(ncclResult_t result) { return result == ncclRemoteError ? "peer_lost" : "other"; }

std::string text_of(ncclResult_t result, ncclComm_t comm) {
  return std::string(ncclGetErrorString(result)) + ": " + ncclGetLastError(comm);
}

std::string version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// A library before NCCL in the loader's order may define the names of all versions, so the version decides
// which of them exist.
void* function_since(int since, const char* name, const Patience& patience) {
  int version = 0;
  void* found =
      ncclGetVersion(&version) == ncclSuccess && version >= since ? dlsym(RTLD_DEFAULT, name) : nullptr;
  if (!found) patience.fail("other", "NCCL " + version_text(version) + " has no " + name);
  return found;
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclJob> job)
    : job_(std::move(job)), handle_(new ncclComm_t(nullptr)) {
  job_->communicators.push_back(this);
}

// Finalizes and destroys an intact communicator. Aborts a broken one, because anything else would wait for
// the other ranks. If NCCL has not stored the handle yet, its memory is not freed, because NCCL may still
// write to it.
NcclCommunicator::~NcclCommunicator() {
  end();
  auto& all = job_->communicators;
  all.erase(std::find(all.begin(), all.end(), this));
}

void NcclCommunicator::end() {
  if (!handle_ || !get()) return;
  try {
    Patience patience("finalize", kToFinalize, *job_);
    if (!job_->broken) settle(ncclCommFinalize(get()), patience);
  } catch (const CollectiveError&) {
  }
  if (job_->broken)
    abort_all(*job_);
  else if (job_->end_by_abort)
    abort();
  else
    ncclCommDestroy(get());
  delete handle_;
}

std::unique_ptr<NcclCommunicator> NcclCommunicator::meet(const ncclUniqueId& id, int rank, int size,
                                                         Limit limit, std::shared_ptr<NcclJob> job) {
  Patience patience("init", limit, *job);
  std::unique_ptr<NcclCommunicator> made(new NcclCommunicator(std::move(job)));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  made->settle(ncclCommInitRankConfig(made->handle_, size, id, rank, &config), patience);
  return made;
}

std::unique_ptr<NcclCommunicator> NcclCommunicator::split(bool is_member, int place, Limit limit) {
  Patience patience("comm_split", limit, *job_);
  std::unique_ptr<NcclCommunicator> child(new NcclCommunicator(job_));
  const ncclResult_t result =
      ncclCommSplit(get(), is_member ? 0 : NCCL_SPLIT_NOCOLOR, place, child->handle_, nullptr);
  return child_of(result, patience, std::move(child));
}

std::unique_ptr<NcclCommunicator> NcclCommunicator::shrink(std::vector<int> lost, bool abort, Limit limit,
                                                           std::shared_ptr<NcclJob> job) const {
  Patience patience("comm_shrink", limit, *job);
  auto* shrink = reinterpret_cast<Shrink*>(function_since(22700, "ncclCommShrink", patience));
  std::unique_ptr<NcclCommunicator> child(new NcclCommunicator(std::move(job)));
  const ncclResult_t result = shrink(get(), lost.data(), static_cast<int>(lost.size()), child->handle_,
                                     nullptr, abort ? kShrinkAbort : kShrinkDefault);
  return child_of(result, patience, std::move(child));
}

// The job is already broken, so the wait uses a new job: only its own limit ends it.
void NcclCommunicator::revoke(Limit limit) const {
  NcclJob alone;
  Patience patience("comm_revoke", limit, alone);
  settle(reinterpret_cast<Revoke*>(function_since(22900, "ncclCommRevoke", patience))(get(), 0), patience);
}

// The parent's state is "in progress" until the child is made, and then the child's is. NCCL returns
// "success" for a split that has only begun (2.22 and 2.29).
std::unique_ptr<NcclCommunicator> NcclCommunicator::child_of(ncclResult_t result, Patience& patience,
                                                             std::unique_ptr<NcclCommunicator> child) const {
  settle(result == ncclSuccess ? ncclInProgress : result, patience);
  if (!child->get()) {
    delete std::exchange(child->handle_, nullptr);
    return nullptr;
  }
  child->settle(ncclInProgress, patience);
  return child;
}

void NcclCommunicator::settle(ncclResult_t result, Patience& patience) const {
  while (result == ncclInProgress) {
    if (ncclCommGetAsyncError(get(), &result) != ncclSuccess) patience.fail("other", text_of(result, get()));
    if (result == ncclInProgress) patience.pause();
  }
  if (result != ncclSuccess) patience.fail(kind_of(result), text_of(result, get()));
}

void NcclCommunicator::look(Patience& patience) const {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(get(), &state);
  if (asked != ncclSuccess) state = asked;
  if (state != ncclSuccess && state != ncclInProgress) patience.fail(kind_of(state), text_of(state, get()));
  patience.heard_success();
}

// One thread per communicator: an abort frees memory and so waits for the device. The device has operations
// in flight on the other communicators until these are aborted, too.
void NcclCommunicator::abort_all(const NcclJob& job) {
  std::vector<std::thread> threads;
  for (NcclCommunicator* one : job.communicators) threads.emplace_back([one] { one->abort(); });
  for (std::thread& thread : threads) thread.join();
}

void NcclCommunicator::abort() {
  if (!handle_ || !get()) return;
  ncclCommAbort(get());
  *handle_ = nullptr;
}

}  // namespace trainer
