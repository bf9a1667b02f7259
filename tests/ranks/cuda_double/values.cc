// values.cc: every collective gives the right values, with every type and reduction.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cuda_double/model/entry_points.h"
#include "cuda_double/model/small_float.h"
#include "tests/ranks/cuda_double/rank.h"

using namespace rank;  // NOLINT: this is a program

namespace {

constexpr int kCount = 13;

// Small whole numbers are exact in every type.
void store(char* at, int type, double value) {
  auto put = [&](auto x) { std::memcpy(at, &x, sizeof x); };
  float f = static_cast<float>(value);
  switch (type) {
    case ncclInt8:
      return put(static_cast<std::int8_t>(value));
    case ncclUint8:
      return put(static_cast<std::uint8_t>(value));
    case ncclInt32:
      return put(static_cast<std::int32_t>(value));
    case ncclUint32:
      return put(static_cast<std::uint32_t>(value));
    case ncclInt64:
      return put(static_cast<std::int64_t>(value));
    case ncclUint64:
      return put(static_cast<std::uint64_t>(value));
    case ncclFloat16:
      return put(cuda_double::Float16::of(f));
    case ncclFloat32:
      return put(f);
    case ncclFloat64:
      return put(value);
    case ncclBfloat16:
      return put(cuda_double::BFloat16::of(f));
    case 10:
      return put(cuda_double::Float8E4M3::of(f));
    default:
      return put(cuda_double::Float8E5M2::of(f));
  }
}
std::size_t width(int type) {
  static const std::size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return widths[type];
}

struct Buffer {
  Buffer(int t, int count) : type(t), size(static_cast<std::size_t>(count) * width(t)), host(size) {
    MUST(cudaMalloc(&device, size) == cudaSuccess);
  }
  ~Buffer() { cudaFree(device); }
  // Fills the device with `value` of each place. check() compares the device with it.
  template <class F>
  void fill(F value, cudaStream_t on) {
    for (std::size_t i = 0; i * width(type) < size; ++i)
      store(&host[i * width(type)], type, value(static_cast<int>(i)));
    MUST(cudaMemcpyAsync(device, host.data(), size, cudaMemcpyHostToDevice, on) == cudaSuccess);
  }
  template <class F>
  void check(F value, cudaStream_t on, int places) {
    std::vector<char> want(width(type));
    MUST(cudaMemcpyAsync(host.data(), device, size, cudaMemcpyDeviceToHost, on) == cudaSuccess);
    MUST(cudaStreamSynchronize(on) == cudaSuccess);
    for (int i = 0; i < places; ++i) {
      store(want.data(), type, value(i));
      MUST(std::memcmp(&host[static_cast<std::size_t>(i) * width(type)], want.data(), width(type)) == 0);
    }
  }
  int type;
  std::size_t size;
  std::vector<char> host;
  void* device = nullptr;
};

// The value that rank r gives at a place: 1 or 2, in a pattern that changes under every shift by a rank's
// share. Products of 4 ranks are therefore exact in every type, and sums in all but the smallest floats.
double given(int r, int place) { return (3 * r + place * place + r * place) % 5 < 2 ? 2 : 1; }

// The value after rounding to a small float.
double kept(int type, double value) {
  float f = static_cast<float>(value);
  if (type == 10) return cuda_double::Float8E4M3::of(f).value();
  if (type == 11) return cuda_double::Float8E5M2::of(f).value();
  return value;
}

double reduced(int type, int op, int place) {
  double sum = 0, product = 1, low = 99, high = 0;
  for (int r = 0; r < ranks; ++r) {
    double x = given(r, place);
    sum = kept(type, sum + x), product *= x, low = std::fmin(low, x), high = std::fmax(high, x);
  }
  return op == ncclSum ? sum : op == ncclProd ? product : op == ncclMax ? high : low;
}

int types() { return nccl_version() >= 22400 ? 12 : 10; }  // NCCL has 8-bit floats from 2.24 on

template <class F>
F* function(const char* name, F*) {
  return reinterpret_cast<F*>(nccl_function(name));
}
#define NCCL(name) function(#name, static_cast<decltype(&name)>(nullptr))

void reductions(ncclComm_t comm, cudaStream_t on, int t) {
  auto type = static_cast<ncclDataType_t>(t);
  for (int o : {ncclSum, ncclProd, ncclMax, ncclMin}) {
    auto op = static_cast<ncclRedOp_t>(o);
    Buffer in(t, kCount * ranks), out(t, kCount * ranks);
    in.fill([](int i) { return given(rank::rank, i); }, on);
    MUST(NCCL(ncclAllReduce)(in.device, out.device, kCount, type, op, comm, on) == ncclSuccess);
    out.check([&](int i) { return reduced(t, o, i); }, on, kCount);
    MUST(NCCL(ncclReduce)(in.device, in.device, kCount, type, op, 1, comm, on) == ncclSuccess);
    in.check([&](int i) { return rank::rank == 1 ? reduced(t, o, i) : given(rank::rank, i); }, on, kCount);
    in.fill([](int i) { return given(rank::rank, i); }, on);
    MUST(NCCL(ncclReduceScatter)(in.device, out.device, kCount, type, op, comm, on) == ncclSuccess);
    out.check([&](int i) { return reduced(t, o, rank::rank * kCount + i); }, on, kCount);
  }
}

void average_and_custom(ncclComm_t comm, cudaStream_t on, int t) {
  auto type = static_cast<ncclDataType_t>(t);
  Buffer in(t, kCount), out(t, kCount);
  in.fill([](int i) { return 4 * given(rank::rank, i); }, on);
  MUST(NCCL(ncclAllReduce)(in.device, out.device, kCount, type, ncclAvg, comm, on) == ncclSuccess);
  out.check([&](int i) { return 4 * reduced(t, ncclSum, i) / ranks; }, on, kCount);
  in.fill([](int i) { return given(rank::rank, i); }, on);
  std::vector<char> factor(width(t));
  store(factor.data(), t, rank::rank % 2 + 1);  // each rank has its own factor
  ncclRedOp_t op;
  MUST(NCCL(ncclRedOpCreatePreMulSum)(&op, factor.data(), type, ncclScalarHostImmediate, comm) ==
       ncclSuccess);
  MUST(NCCL(ncclAllReduce)(in.device, out.device, kCount, type, op, comm, on) == ncclSuccess);
  MUST(NCCL(ncclRedOpDestroy)(op, comm) == ncclSuccess);
  auto sum = [t](int i) {
    double total = 0;
    for (int r = 0; r < ranks; ++r) total = kept(t, total + given(r, i) * (r % 2 + 1));
    return total;
  };
  out.check(sum, on, kCount);
}

void moves(ncclComm_t comm, cudaStream_t on, int t) {
  auto type = static_cast<ncclDataType_t>(t);
  int next = (rank::rank + 1) % ranks, before = (rank::rank + ranks - 1) % ranks;
  Buffer in(t, kCount), out(t, kCount * ranks);
  auto mine = [](int i) { return given(rank::rank, i); };
  in.fill(mine, on);
  MUST(NCCL(ncclBroadcast)(in.device, out.device, kCount, type, 2 % ranks, comm, on) == ncclSuccess);
  out.check([](int i) { return given(2 % ranks, i); }, on, kCount);
  MUST(NCCL(ncclAllGather)(in.device, out.device, kCount, type, comm, on) == ncclSuccess);
  out.check([](int i) { return given(i / kCount, i % kCount); }, on, kCount * ranks);
  MUST(NCCL(ncclGroupStart)() == ncclSuccess);
  MUST(NCCL(ncclSend)(in.device, kCount, type, next, comm, on) == ncclSuccess);
  MUST(NCCL(ncclRecv)(out.device, kCount, type, before, comm, on) == ncclSuccess);
  MUST(NCCL(ncclGroupEnd)() == ncclSuccess);
  out.check([=](int i) { return given(before, i); }, on, kCount);
  MUST(NCCL(ncclBcast)(in.device, kCount, type, 1, comm, on) == ncclSuccess);
  in.check([](int i) { return given(1, i); }, on, kCount);
}

using Exchange = ncclResult_t(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
using Rooted = ncclResult_t(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);

// For NCCL 2.28 and later.
void exchanges(ncclComm_t comm, cudaStream_t on, int t) {
  auto type = static_cast<ncclDataType_t>(t);
  auto* all_to_all = reinterpret_cast<Exchange*>(nccl_function("ncclAlltoAll", 22800));
  if (!all_to_all) return;
  Buffer in(t, kCount * ranks), out(t, kCount * ranks);
  in.fill([](int i) { return given(rank::rank, i); }, on);
  MUST(all_to_all(in.device, out.device, kCount, type, comm, on) == ncclSuccess);
  out.check([](int i) { return given(i / kCount, rank::rank * kCount + i % kCount); }, on, kCount * ranks);
  auto* gather = reinterpret_cast<Rooted*>(nccl_function("ncclGather"));
  MUST(gather(in.device, out.device, kCount, type, 1, comm, on) == ncclSuccess);
  if (rank::rank == 1) out.check([](int i) { return given(i / kCount, i % kCount); }, on, kCount * ranks);
  auto* scatter = reinterpret_cast<Rooted*>(nccl_function("ncclScatter"));
  MUST(scatter(in.device, out.device, kCount, type, 1, comm, on) == ncclSuccess);
  out.check([](int i) { return given(1, rank::rank * kCount + i); }, on, kCount);
}

void values() {
  MUST(ranks == 4);  // with other numbers an average is not exact
  ncclComm_t comm = communicator("values");
  cudaStream_t on = stream();
  for (int type = 0; type < types(); ++type) {
    reductions(comm, on, type);
    average_and_custom(comm, on, type);
    moves(comm, on, type);
    exchanges(comm, on, type);
  }
  std::uint64_t counts[4];
  rankfault_cuda_counts(counts);
  std::printf("calls %lu launches %lu without %lu other %lu\n", counts[0], counts[1], counts[2], counts[3]);
  MUST(counts[2] == 0);  // every call ended in a launch by NCCL
  MUST(ncclCommDestroy(comm) == ncclSuccess);
}
const Register registered("values", values);

}  // namespace
