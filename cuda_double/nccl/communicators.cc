// communicators.cc: the calls that make and end communicators. From them the model computes a key for each
// communicator, which is the same on all its ranks.
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "cuda_double/core/settings.h"
#include "cuda_double/model/bell.h"
#include "cuda_double/nccl/entries.h"

namespace cuda_double {
namespace {

// Places for handles of communicators that are made inside a group. NCCL stores the handles later.
struct Unborn {
  std::mutex mutex;
  std::vector<std::pair<ncclComm_t*, std::uint64_t>> all;
};
Unborn& unborn() {
  static Unborn* u = new Unborn;
  return *u;
}

void made(ncclComm_t* where, std::uint64_t key) {
  if (*where) return add_communicator(*where, key);
  std::lock_guard<std::mutex> lock(unborn().mutex);
  unborn().all.emplace_back(where, key);
}

// Calls `own` to make a communicator, and notes its key.
template <class Own>
ncclResult_t make(ncclComm_t* out, std::uint64_t key, Own own) {
  if (settings().kernels == Kernels::joined && settings().folder.empty()) {
    say_once("RANKFAULT_CUDA_FOLDER must name the folder in which the ranks meet: no communicator is made");
    return ncclInvalidUsage;
  }
  if (out) *out = nullptr;
  ncclResult_t result = own();
  if (out && accepted(result)) made(out, key);
  return result;
}

std::uint64_t key_of_id(const ncclUniqueId& id) { return key_of(&id, sizeof id); }

}  // namespace

CommunicatorPtr known_communicator(ncclComm_t handle) {
  if (!handle) return nullptr;
  adopt_communicators();
  return communicator_of(handle);
}

void adopt_communicators() {
  std::lock_guard<std::mutex> lock(unborn().mutex);
  auto& all = unborn().all;
  auto stored = std::partition(all.begin(), all.end(), [](auto& one) { return *one.first == nullptr; });
  for (auto one = stored; one != all.end(); ++one) add_communicator(*one->first, one->second);
  all.erase(stored, all.end());
}

CommunicatorPtr ready_communicator(ncclComm_t handle) {
  CommunicatorPtr c = known_communicator(handle);
  if (!c) return nullptr;
  std::lock_guard<std::mutex> lock(c->mutex);
  if (c->rank >= 0) return c;
  int ranks = 0, rank = -1, device = 0;
  if (ncclCommCount(handle, &ranks) != ncclSuccess || ncclCommUserRank(handle, &rank) != ncclSuccess ||
      ncclCommCuDevice(handle, &device) != ncclSuccess) {
    return nullptr;
  }
  if (ranks > 1 && settings().kernels == Kernels::joined) {
    open_bell(settings().folder);
    c->page = std::make_unique<Page>(settings().folder, c->key, ranks);
  }
  c->ranks = ranks;
  c->device = device;
  c->rank = rank;
  return c;
}

}  // namespace cuda_double

using namespace cuda_double;  // NOLINT: the entries below stand outside of all namespaces

GPULESS_ENTRY(ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank),
              { return make(comm, key_of_id(id), [&] { return own(comm, ranks, id, rank); }); })
GPULESS_ENTRY(ncclCommInitRankConfig,
              (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config),
              { return make(comm, key_of_id(id), [&] { return own(comm, ranks, id, rank, config); }); })
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 23, 0)
GPULESS_ENTRY(ncclCommInitRankScalable,
              (ncclComm_t * comm, int ranks, int rank, int count, ncclUniqueId* ids, ncclConfig_t* config), {
                return make(comm, key_of_id(ids[0]),
                            [&] { return own(comm, ranks, rank, count, ids, config); });
              })
#endif
GPULESS_ENTRY(ncclCommInitAll, (ncclComm_t * comms, int count, const int* devices), {
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::uint64_t words[] = {static_cast<std::uint64_t>(getpid()), static_cast<std::uint64_t>(now)};
  std::uint64_t key = key_of(words, sizeof words);
  ncclResult_t result = make(nullptr, key, [&] { return own(comms, count, devices); });
  for (int i = 0; accepted(result) && i < count; ++i) add_communicator(comms[i], key);
  return result;
})

// Also counts a split that leaves this rank out, so that the next split has the same number on all ranks.
GPULESS_ENTRY(ncclCommSplit, (ncclComm_t parent, int color, int key, ncclComm_t* child, ncclConfig_t* config),
              {
                CommunicatorPtr old = known_communicator(parent);
                std::uint64_t number = old ? child_key(*old, 1, static_cast<std::uint64_t>(color)) : 0;
                if (!old || color == NCCL_SPLIT_NOCOLOR) return own(parent, color, key, child, config);
                return make(child, number, [&] { return own(parent, color, key, child, config); });
              })
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
GPULESS_ENTRY(
    ncclCommShrink,
    (ncclComm_t parent, int* excluded, int count, ncclComm_t* child, ncclConfig_t* config, int flags), {
      CommunicatorPtr old = known_communicator(parent);
      if (!old) return own(parent, excluded, count, child, config, flags);
      if (flags & NCCL_SHRINK_ABORT) old->abort();
      std::vector<int> gone(excluded, excluded + std::max(count, 0));
      std::sort(gone.begin(), gone.end());
      std::uint64_t number = child_key(*old, 2, key_of(gone.data(), gone.size() * sizeof(int)));
      return make(child, number, [&] { return own(parent, excluded, count, child, config, flags); });
    })
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 0)
GPULESS_ENTRY(ncclCommRevoke, (ncclComm_t comm, int flags), {
  if (CommunicatorPtr c = known_communicator(comm)) c->abort();
  return own(comm, flags);
})
#endif

GPULESS_ENTRY(ncclCommAbort, (ncclComm_t comm), {
  CommunicatorPtr c = known_communicator(comm);
  if (c) c->abort();  // a kernel that sees the abort flag ends
  forget_communicator(comm);
  ncclResult_t result = own(comm);
  if (c) end_launches_of(c);
  return result;
})
GPULESS_ENTRY(ncclCommDestroy, (ncclComm_t comm), {
  CommunicatorPtr c = known_communicator(comm);
  ncclResult_t result = own(comm);
  if (c && accepted(result)) {
    forget_communicator(comm);
    end_launches_of(c);
  }
  return result;
})

GPULESS_ENTRY(ncclRedOpCreatePreMulSum,
              (ncclRedOp_t * op, void* scalar, ncclDataType_t type, ncclScalarResidence_t where,
               ncclComm_t comm),
              {
                ncclResult_t result = own(op, scalar, type, where, comm);
                CommunicatorPtr c = known_communicator(comm);
                if (result != ncclSuccess || !c || static_cast<std::uint32_t>(type) >= kTypes) return result;
                CustomReduction custom;
                custom.type = static_cast<Type>(type);
                const char* bytes = static_cast<const char*>(scalar);
                if (where == ncclScalarHostImmediate)
                  custom.factor.assign(bytes, bytes + bytes_of(custom.type));
                else
                  custom.at_execution = scalar;
                std::lock_guard<std::mutex> lock(c->mutex);
                c->reductions[*op] = custom;
                return result;
              })
GPULESS_ENTRY(ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm), {
  if (CommunicatorPtr c = known_communicator(comm)) {
    std::lock_guard<std::mutex> lock(c->mutex);
    c->reductions.erase(op);
  }
  return own(op, comm);
})
