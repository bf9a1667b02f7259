// gloo_calls.h: makes one collective over Gloo, with elements of one type.
#ifndef RANKFAULT_WORKLOADS_REPLAY_GLOO_CALLS_H
#define RANKFAULT_WORKLOADS_REPLAY_GLOO_CALLS_H

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <vector>

#include "gloo_mesh.h"
#include "state.h"

// Memory of one call.
template <typename T>
class Elements {
 public:
  Elements(struct replay_run& run, int64_t count)
      : count_(count), buffer_(replay_take(&run, count * static_cast<int64_t>(sizeof(T)))) {}
  ~Elements() { buffer_->is_busy = 0; }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  T* data() const { return static_cast<T*>(buffer_->memory); }
  size_t size() const { return static_cast<size_t>(count_); }

 private:
  int64_t count_;
  replay_buffer* buffer_;
};

template <typename T>
class Collective {
 public:
  Collective(struct replay_run& run, const replay_statement& s, const std::shared_ptr<Mesh>& mesh)
      : run_(run),
        s_(s),
        mesh_(mesh),
        count_(s.count),
        whole_(replay_whole(&s, &run.program.groups[s.group])),
        root_(replay_index(&run.program.groups[s.group], s.peer)) {}

  void make() {
    if (s_.op == kAllReduce) return all_reduce(count_);
    if (s_.op == kReduceScatter) return all_reduce(whole_);
    if (s_.op == kBroadcast) return broadcast();
    if (s_.op == kReduce) return reduce();
    if (s_.op == kGather) return gather();
    if (s_.op == kScatter) return scatter();
    if (s_.op == kAllGather) return all_gather();
    if (s_.op == kAllToAll) return all_to_all();
    if (s_.op == kAllToAllv) return all_to_allv();
    gloo::BarrierOptions options(mesh_);
    gloo::barrier(options);
  }

 private:
  using Function = void (*)(void*, const void*, const void*, size_t);

  Function function() const {
    static const Function kFunctions[kReductions] = {&gloo::sum<T>, &gloo::max<T>, &gloo::min<T>,
                                                     &gloo::product<T>};
    return kFunctions[s_.reduction];
  }

  bool is_root() const { return mesh_->rank == root_; }

  void all_reduce(int64_t count) {
    Elements<T> in(run_, count), out(run_, count);
    gloo::AllreduceOptions options(mesh_);
    options.setInput(in.data(), in.size());
    options.setOutput(out.data(), out.size());
    options.setReduceFunction(function());
    gloo::allreduce(options);
  }

  void broadcast() {
    Elements<T> elements(run_, count_);
    gloo::BroadcastOptions options(mesh_);
    options.setOutput(elements.data(), elements.size());
    options.setRoot(root_);
    gloo::broadcast(options);
  }

  void reduce() {
    Elements<T> in(run_, count_), out(run_, count_);
    gloo::ReduceOptions options(mesh_);
    options.setInput(in.data(), in.size());
    options.setOutput(out.data(), out.size());
    options.setReduceFunction(function());
    options.setRoot(root_);
    gloo::reduce(options);
  }

  void gather() {
    Elements<T> in(run_, count_), out(run_, is_root() ? count_ * mesh_->size : 0);
    gloo::GatherOptions options(mesh_);
    options.setInput(in.data(), in.size());
    if (is_root()) options.setOutput(out.data(), out.size());
    options.setRoot(root_);
    gloo::gather(options);
  }

  void scatter() {
    Elements<T> in(run_, is_root() ? count_ * mesh_->size : 0), out(run_, count_);
    gloo::ScatterOptions options(mesh_);
    std::vector<T*> parts;
    for (int i = 0; is_root() && i < mesh_->size; ++i) parts.push_back(in.data() + i * count_);
    if (is_root()) options.setInputs(parts, out.size());
    options.setOutput(out.data(), out.size());
    options.setRoot(root_);
    gloo::scatter(options);
  }

  void all_gather() {
    Elements<T> in(run_, count_), out(run_, count_ * mesh_->size);
    gloo::AllgatherOptions options(mesh_);
    options.setInput(in.data(), in.size());
    options.setOutput(out.data(), out.size());
    gloo::allgather(options);
  }

  void all_to_all() {
    Elements<T> in(run_, whole_), out(run_, whole_);
    gloo::AlltoallOptions options(mesh_);
    options.setInput(in.data(), in.size());
    options.setOutput(out.data(), out.size());
    gloo::alltoall(options);
  }

  // Each rank gives an equal share to the others and adds the remainder to its own.
  void all_to_allv() {
    Elements<T> in(run_, count_), out(run_, count_);
    std::vector<int64_t> shares(static_cast<size_t>(mesh_->size), count_ / mesh_->size);
    shares[static_cast<size_t>(mesh_->rank)] += count_ % mesh_->size;
    gloo::AlltoallvOptions options(mesh_);
    options.setInput(in.data(), shares);
    options.setOutput(out.data(), shares);
    gloo::alltoallv(options);
  }

  struct replay_run& run_;
  const replay_statement& s_;
  const std::shared_ptr<Mesh>& mesh_;
  int64_t count_, whole_;
  int root_;
};

// Gloo has no bfloat16: another 16-bit float stands for it.
inline void make_collective(struct replay_run& run, const replay_statement& s,
                            const std::shared_ptr<Mesh>& mesh) {
  if (s.dtype == kFloat16 || s.dtype == kBfloat16) Collective<gloo::float16>(run, s, mesh).make();
  if (s.dtype == kFloat32) Collective<float>(run, s, mesh).make();
  if (s.dtype == kFloat64) Collective<double>(run, s, mesh).make();
  if (s.dtype == kInt8) Collective<int8_t>(run, s, mesh).make();
  if (s.dtype == kUint8) Collective<uint8_t>(run, s, mesh).make();
  if (s.dtype == kInt32) Collective<int32_t>(run, s, mesh).make();
  if (s.dtype == kInt64) Collective<int64_t>(run, s, mesh).make();
}

#endif  // RANKFAULT_WORKLOADS_REPLAY_GLOO_CALLS_H
