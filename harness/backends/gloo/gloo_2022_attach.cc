// gloo_2022_attach.cc: contexts of plain Gloo (their members and identity) and the decoder's table.
#include <gloo/allreduce.h>

#include <cstdlib>
#include <thread>

#include "harness/backends/gloo/gloo_2022.h"

// The wrappers of gloo_2022.cc, by their mangled names: they are not overloaded there.
namespace gloo {
void allreduce(const AllreduceOptions&);
void broadcast(BroadcastOptions&);
void reduce(ReduceOptions&);
void barrier(BarrierOptions&);
void allgather(AllgatherOptions&);
void allgatherv(AllgathervOptions&);
void gather(GatherOptions&);
void scatter(ScatterOptions&);
void alltoall(AlltoallOptions&);
void alltoallv(AlltoallvOptions&);
}  // namespace gloo

namespace rankfault::gloo_decoder {

const rf_core_v1* core;

ContextTable& contexts() {
  static ContextTable& table = *new ContextTable;  // outlives every thread that may still call
  return table;
}

namespace {

struct ContextPeek : ::gloo::Context {
  static std::chrono::milliseconds timeout(const ::gloo::Context& of) { return of.*(&ContextPeek::timeout_); }
};
struct FactoryPeek : ::gloo::rendezvous::ContextFactory {
  static const ::gloo::Context& backing(const ::gloo::rendezvous::ContextFactory& of) {
    return *(of.*(&FactoryPeek::backingContext_));
  }
};

uint64_t timeout_ns(const ::gloo::Context& context) {
  const auto ms = ContextPeek::timeout(context).count();
  return ms > 0 ? static_cast<uint64_t>(ms) * 1000000 : 0;
}

std::vector<char> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// Publishes what the others will read after they have connected to this rank.
void offer_identity(::gloo::rendezvous::Store& store, int rank, bool is_world, int world_rank) {
  try {
    if (rank == 0) store.set(kIdentityKey, bytes_of(identity_text(random_identity())));
    if (!is_world) store.set(member_key(rank), bytes_of(std::to_string(world_rank)));
  } catch (const std::exception&) {  // the job's own connect will fail in the same way, with a better message
  }
}

// Uses a limit that is already over: the stores check once. FileStore counts its own limit in whole seconds.
bool is_there(::gloo::rendezvous::Store& store, const std::string& key) {
  try {
    store.wait({key}, std::chrono::milliseconds(-1));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Each member publishes its keys before it connects, so the keys exist after the mesh is connected. The limit
// covers a member that runs without the agent: a job must not wait for a key that no member writes.
std::string fetch(::gloo::rendezvous::Store& store, const std::string& key) {
  constexpr std::chrono::milliseconds kStep(5), kLongest(100);
  auto waited = std::chrono::milliseconds::zero();
  for (; !is_there(store, key); waited += kStep) {
    if (waited >= kLongest) return "";
    std::this_thread::sleep_for(kStep);
  }
  try {
    const std::vector<char> bytes = store.get(key);
    return {bytes.begin(), bytes.end()};
  } catch (const std::exception&) {
    return "";
  }
}

std::vector<int32_t> fetch_members(::gloo::rendezvous::Store& store, int size, bool is_world) {
  std::vector<int32_t> members;
  for (int r = 0; r < size; ++r) {
    const std::string told = is_world ? std::to_string(r) : fetch(store, member_key(r));
    if (told.empty() || told[0] == '-') return {};
    members.push_back(atoi(told.c_str()));
  }
  return members;
}

void connect_full_mesh(::gloo::rendezvous::Context* self, ::gloo::rendezvous::Store& store, Device& device) {
  const Claim claim = own_claim().get();
  const bool is_world = claim.world_size < 0 || self->size >= claim.world_size;
  core->become_member(RF_LIB_GLOO, is_world ? self->rank : claim.rank,
                      is_world ? self->size : claim.world_size);
  rf_call call =
      make_call(RF_LIB_GLOO, is_world ? RF_OP_INIT : RF_OP_COMM_CREATE, __builtin_return_address(0));
  call.timeout_ns = timeout_ns(*self);
  RecordedCall recorded(call);
  if (recorded.verdict() == RF_DO_FAIL) throw ::gloo::IoException("[rankfault] Connect timeout (injected)");
  offer_identity(store, self->rank, is_world, claim.rank);
  next.connect_full_mesh(self, store, device);
  own_claim().connected(self->rank, self->size);
  const uint64_t id = identity_from_text(fetch(store, kIdentityKey));
  ContextInfo info{.id = id,
                   .timeout_ns = timeout_ns(*self),
                   .rank = self->rank,
                   .size = self->size,
                   .identity = id ? RF_ID_EXCHANGED : RF_ID_NONE,
                   .members = {}};
  if (id) info.members = fetch_members(store, self->size, is_world);
  if (refute_environment(info.members)) {
    info.members = fetch_members(store, self->size, true);
    own_claim().join(self->rank, self->size);
    core->become_member(RF_LIB_GLOO, self->rank, self->size);
  }
  contexts().add(self, info);
  recorded.returned();
}

// A context made from another one: its identity comes from that one and from the number of contexts made
// there before. Its `parent` stays empty, because that field joins the tags of one context.
std::shared_ptr<::gloo::Context> make_context(::gloo::rendezvous::ContextFactory* self, Device& device) {
  const ::gloo::Context& backing = FactoryPeek::backing(*self);
  rf_call call = make_call(RF_LIB_GLOO, RF_OP_COMM_CREATE, __builtin_return_address(0));
  call.comm = contexts().stream(&backing, 0, backing.rank, backing.size);
  RecordedCall recorded(call);
  std::shared_ptr<::gloo::Context> made = next.make_context(self, device);
  const rf_comm* parent = core->comm_get(call.comm);
  const uint64_t k = parent ? parent->entered : 0;
  ContextInfo info = contexts().info_of(&backing);
  info.id = info.id ? rf_hash_bytes(info.id, &k, sizeof k) : 0;
  info.identity = info.id ? RF_ID_DERIVED : RF_ID_NONE;
  info.timeout_ns = timeout_ns(*made);
  info.rank = made->rank;
  info.size = made->size;
  contexts().add(made.get(), info);
  recorded.returned();
  return made;
}

template <auto kNext>
void destroy(::gloo::Context* self) {
  contexts().gone(self);
  (next.*kNext)(self);
}

// Inside a collective these are its execution. Outside they are communication without a record: the older
// Algorithm classes, and the program's own sends.
void note_unrecorded() {
  if (core->in_call() == 0) core->opaque(RF_OPAQUE_COMMUNICATION);
}
std::unique_ptr<::gloo::transport::Pair>& get_pair(::gloo::Context* self, int i) {
  note_unrecorded();
  return next.get_pair(self, i);
}
void unbound_send(void* self, int to, uint64_t slot, size_t offset, size_t bytes) {
  note_unrecorded();
  next.unbound_send(self, to, slot, offset, bytes);
}
void unbound_recv(void* self, int from, uint64_t slot, size_t offset, size_t bytes) {
  note_unrecorded();
  next.unbound_recv(self, from, slot, offset, bytes);
}
void unbound_recv_any(void* self, std::vector<int> from, uint64_t slot, size_t offset, size_t bytes) {
  note_unrecorded();
  next.unbound_recv_any(self, std::move(from), slot, offset, bytes);
}

int attach(const rf_core_v1* table, const char** reason) {
  if (table->version != RF_CORE_VERSION || table->bytes < sizeof(rf_core_v1)) {
    *reason = "core of another version";
    return 1;
  }
  // Debian's PyTorch 1.13 uses this Gloo; its process groups use one tag per call.
  if (table->resolve("_ZN4c10d16ProcessGroupGloo7nextTagEv")) {
    *reason = "PyTorch over Gloo 2022";
    return 1;
  }
  core = table;
  contexts();  // created before any fork that could come in between
  core->coverage(RF_LIB_GLOO, "gloo_2022", 20220500, RF_HOOK_PRELOAD, "");
  core->thread_multiple(1);
  return 0;
}

#define WRAP(symbol, wrapper, slot) \
  { symbol, reinterpret_cast<void*>(wrapper), reinterpret_cast<void**>(&next.slot) }
const rf_wrapper kWrappers[] = {
    WRAP("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE", &::gloo::allreduce, allreduce),
    WRAP("_ZN4gloo9broadcastERNS_16BroadcastOptionsE", &::gloo::broadcast, broadcast),
    WRAP("_ZN4gloo6reduceERNS_13ReduceOptionsE", &::gloo::reduce, reduce),
    WRAP("_ZN4gloo7barrierERNS_14BarrierOptionsE", &::gloo::barrier, barrier),
    WRAP("_ZN4gloo9allgatherERNS_16AllgatherOptionsE", &::gloo::allgather, allgather),
    WRAP("_ZN4gloo10allgathervERNS_17AllgathervOptionsE", &::gloo::allgatherv, allgatherv),
    WRAP("_ZN4gloo6gatherERNS_13GatherOptionsE", &::gloo::gather, gather),
    WRAP("_ZN4gloo7scatterERNS_14ScatterOptionsE", &::gloo::scatter, scatter),
    WRAP("_ZN4gloo8alltoallERNS_15AlltoallOptionsE", &::gloo::alltoall, alltoall),
    WRAP("_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE", &::gloo::alltoallv, alltoallv),
    WRAP("_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE",
         &connect_full_mesh, connect_full_mesh),
    WRAP("_ZN4gloo10rendezvous14ContextFactory11makeContextERSt10shared_ptrINS_9transport6DeviceEE",
         &make_context, make_context),
    WRAP("_ZN4gloo10rendezvous7ContextD1Ev", &destroy<&Nexts2022::rendezvous_context_d1>,
         rendezvous_context_d1),
    WRAP("_ZN4gloo10rendezvous7ContextD0Ev", &destroy<&Nexts2022::rendezvous_context_d0>,
         rendezvous_context_d0),
    WRAP("_ZN4gloo7ContextD1Ev", &destroy<&Nexts2022::context_d1>, context_d1),
    WRAP("_ZN4gloo7ContextD2Ev", &destroy<&Nexts2022::context_d2>, context_d2),
    WRAP("_ZN4gloo7Context7getPairEi", &get_pair, get_pair),
    WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm", &unbound_send, unbound_send),
    WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4recvEimmm", &unbound_recv, unbound_recv),
    WRAP("_ZN4gloo9transport3tcp13UnboundBuffer4recvESt6vectorIiSaIiEEmmm", &unbound_recv_any,
         unbound_recv_any),
    {nullptr, nullptr, nullptr},
};
#undef WRAP

}  // namespace
}  // namespace rankfault::gloo_decoder

const rf_decoder_v1 rankfault_decoder_v1 = {
    .version = RF_CORE_VERSION,
    .bytes = sizeof(rf_decoder_v1),
    .name = "gloo_2022",
    .library = RF_LIB_GLOO,
    .wrappers = rankfault::gloo_decoder::kWrappers,
    .attach = rankfault::gloo_decoder::attach,
};
