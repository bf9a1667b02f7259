// gloo_2022.h: the next definitions of the functions that gloo_2022 wraps.
#ifndef RANKFAULT_BACKENDS_GLOO_GLOO_2022_H
#define RANKFAULT_BACKENDS_GLOO_GLOO_2022_H

#include <gloo/rendezvous/context.h>

#include <memory>

#include "harness/backends/gloo/context_table.h"
#include "harness/backends/gloo/identity.h"
#include "harness/backends/gloo/recorded_call.h"

namespace gloo {
class AllgatherOptions;
class AllgathervOptions;
class AllreduceOptions;
class AlltoallOptions;
class AlltoallvOptions;
class BarrierOptions;
class BroadcastOptions;
class GatherOptions;
class ReduceOptions;
class ScatterOptions;
}  // namespace gloo

namespace rankfault::gloo_decoder {

using Device = std::shared_ptr<::gloo::transport::Device>;

struct Nexts2022 {
  void (*allreduce)(const ::gloo::AllreduceOptions&);
  void (*broadcast)(::gloo::BroadcastOptions&);
  void (*reduce)(::gloo::ReduceOptions&);
  void (*barrier)(::gloo::BarrierOptions&);
  void (*allgather)(::gloo::AllgatherOptions&);
  void (*allgatherv)(::gloo::AllgathervOptions&);
  void (*gather)(::gloo::GatherOptions&);
  void (*scatter)(::gloo::ScatterOptions&);
  void (*alltoall)(::gloo::AlltoallOptions&);
  void (*alltoallv)(::gloo::AlltoallvOptions&);
  void (*connect_full_mesh)(::gloo::rendezvous::Context*, ::gloo::rendezvous::Store&, Device&);
  std::shared_ptr<::gloo::Context> (*make_context)(::gloo::rendezvous::ContextFactory*, Device&);
  void (*rendezvous_context_d1)(::gloo::Context*);
  void (*rendezvous_context_d0)(::gloo::Context*);
  void (*context_d1)(::gloo::Context*);
  void (*context_d2)(::gloo::Context*);
  std::unique_ptr<::gloo::transport::Pair>& (*get_pair)(::gloo::Context*, int);
  void (*unbound_send)(void*, int, uint64_t, size_t, size_t);
  void (*unbound_recv)(void*, int, uint64_t, size_t, size_t);
  void (*unbound_recv_any)(void*, std::vector<int>, uint64_t, size_t, size_t);
};
extern Nexts2022 next;

ContextTable& contexts();

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_GLOO_2022_H
