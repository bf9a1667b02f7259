// torch_group.cc: process groups: their members, identity and end; and the decoder's table.
#include <strings.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "harness/backends/gloo/identity.h"
#include "harness/backends/gloo/torch_gloo.h"
#include "harness/backends/gloo/torch_names.h"
#include "harness/backends/torch_nccl/torch_nccl.h"

namespace rankfault::gloo_decoder {

const rf_core_v1* core;
TorchNexts torch_next;
TorchFunctions torch_function;

namespace {

bool connects_lazily() {
  const char* text = getenv("TORCH_GLOO_LAZY_INIT");
  return text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0 &&
         strcasecmp(text, "no") != 0;
}

void offer(void* store, const std::string& key, const std::string& value) {
  try {
    torch_function.store_set(store, key, value);
  } catch (const std::exception&) {  // the group's own rendezvous will fail in the same way
  }
}

// Used only after the group is connected. The key then exists, unless its member runs without the agent. A
// get would wait for that key for the store's own limit: minutes.
constexpr std::chrono::milliseconds kLongestFetch(100);

std::string fetch(void* store, const std::string& key) {
  try {
    if (is_prefix_store(store) && torch_function.prefix_store_wait)
      torch_function.prefix_store_wait(store, {key}, kLongestFetch);
    return torch_function.store_get(store, key);
  } catch (const std::exception&) {
    return "";
  }
}

std::vector<int32_t> fetch_members(void* store, int size, bool is_world) {
  std::vector<int32_t> members;
  for (int r = 0; r < size; ++r) {
    const std::string told = is_world ? std::to_string(r) : fetch(store, member_key(r));
    if (told.empty() || told[0] == '-') return {};
    members.push_back(atoi(told.c_str()));
  }
  return members;
}

// torch.distributed names the groups of a world by their number in the order of new_group, which each process
// counts for itself. A process also counts the groups that it is not in. Returns 0 if the name is not a
// number.
int number_of(const std::string& prefix) {
  const bool number =
      !prefix.empty() && prefix.size() < 10 && prefix.find_first_not_of("0123456789") == std::string::npos;
  return number ? atoi(prefix.c_str()) : 0;
}

// The default group, or the first one over all ranks, starts a world. Names of groups repeat in the next
// world.
struct World {
  std::atomic<void*> group{nullptr};
  std::atomic<uint64_t> number{0};  // of the worlds that this process has been in

  bool starts_with(void* made) {
    void* none = nullptr;
    if (!group.compare_exchange_strong(none, made)) return false;
    number.fetch_add(1);
    return true;
  }
  void ends_with(void* gone) { group.compare_exchange_strong(gone, nullptr); }

  class Guard;  // a group whose construction fails starts no world
};
World world;

class World::Guard {
 public:
  explicit Guard(void* made) : made_(made) {}
  ~Guard() {
    if (!is_made) world.ends_with(made_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  bool is_made = false;

 private:
  void* made_;
};

// An identity from what every member knows by itself. A process that came later counts worlds differently, so
// such an identity proves nothing.
uint64_t identity_by_name(const std::string& name, int size) {
  static PointerMap<1024> made;  // number of times that each was made
  const uint64_t words[] = {rf_hash_text(name.c_str()), world.number.load(), static_cast<uint64_t>(size)};
  const uint64_t of_world = rf_hash_bytes(0, words, sizeof words);
  const void* const key = reinterpret_cast<void*>(of_world | 2);
  const uint64_t before = made.get(key) == PointerMap<1>::kAbsent ? 0 : made.get(key);
  made.set(key, before + 1);
  return rf_hash_bytes(of_world, &before, sizeof before);
}

uint64_t timeout_of(void* const* options) {
  const void* held = options ? *options : nullptr;
  const int64_t ms = held ? layout::at<int64_t>(held, torch.offsets->timeout_of_group_options) : 0;
  return ms > 0 && ms < int64_t{1000} * 3600 * 24 * 365 ? static_cast<uint64_t>(ms) * 1000000 : 0;
}

struct Identity {
  uint64_t id = 0;
  rf_identity how = RF_ID_NONE;
  std::vector<int32_t> members;
};

Identity identity_after(void* store, int size, bool is_world, const std::string& name) {
  Identity of;
  if (connects_lazily()) {  // no member has waited for another: use only what every member knows by itself
    if (is_world) of.members = fetch_members(store, size, true);
    if (!name.empty()) of.id = identity_by_name(name, size), of.how = RF_ID_NAME;
    return of;
  }
  of.id = identity_from_text(fetch(store, kIdentityKey));
  if (!of.id) return of;
  of.how = RF_ID_EXCHANGED;
  of.members = fetch_members(store, size, is_world);
  return of;
}

void add_group(void* group, int rank, int size, uint64_t timeout_ns, const std::string& name,
               const Identity& of) {
  rf_comm_info info{};
  info.id = of.id;
  info.identity = static_cast<uint8_t>(of.how);
  info.members_hash = hash_of_members(of.members);
  info.handle = reinterpret_cast<uintptr_t>(group);
  info.timeout_ns = timeout_ns;
  info.size = static_cast<uint32_t>(size);
  info.rank = rank;
  info.flags = RF_COMM_POSITIONAL;
  info.library = RF_LIB_C10D;
  info.name = name.empty() ? nullptr : name.c_str();
  info.world_ranks = of.members.empty() ? nullptr : of.members.data();
  if (state().groups.set(group, core->comm_add(&info)) != PointerMap<1>::kAbsent)
    core->opaque(RF_OPAQUE_COMMUNICATION);  // the map dropped a group that is in use
}

void construct(void* self, void* const* store, int rank, int size, void** options) {
  const Claim claim = own_claim().get();
  const bool over_all = claim.world_size < 0 || size >= claim.world_size;
  void* const kept = *store;  // the group also holds it
  const std::string prefix = prefix_of(kept);
  const bool is_world = (over_all || prefix == "0") && world.starts_with(self) && over_all;
  World::Guard guard(self);
  core->become_member(RF_LIB_C10D, over_all ? rank : claim.rank, over_all ? size : claim.world_size);
  rf_call call =
      make_call(RF_LIB_C10D, is_world ? RF_OP_INIT : RF_OP_COMM_CREATE, __builtin_return_address(0));
  const uint64_t timeout_ns = timeout_of(options);
  call.timeout_ns = timeout_ns;
  if (!is_world) {
    call.tag = number_of(prefix);
    call.count = static_cast<uint64_t>(size);
    call.peer = rank;
  }
  const std::string name = name_of(prefix, is_world);
  RecordedCall recorded(call);
  if (recorded.verdict() == RF_DO_FAIL) throw std::runtime_error("[rankfault] rendezvous failed (injected)");
  if (rank == 0) offer(kept, kIdentityKey, identity_text(random_identity()));
  if (!over_all) offer(kept, member_key(rank), std::to_string(claim.rank));
  torch_next.construct(self, store, rank, size, options);
  own_claim().connected(rank, size);
  Identity of = identity_after(kept, size, over_all, name);
  if (refute_environment(of.members)) {
    of.members = fetch_members(kept, size, true);
    own_claim().join(rank, size);
    core->become_member(RF_LIB_C10D, rank, size);
  }
  add_group(self, rank, size, timeout_ns, name, of);
  guard.is_made = true;
  recorded.returned();
}

template <auto kNext>
void destroy(void* self) {
  const uint64_t comm = state().groups.get(self);
  world.ends_with(self);  // in-place recovery makes the next world
  if (comm != PointerMap<1>::kAbsent) {
    state().groups.erase(self);
    core->comm_gone(static_cast<uint32_t>(comm));
  }
  (torch_next.*kNext)(self);
}

// Wrapped without their own record: they run only inside recorded calls.
template <int kIndex>
void destroy_context(void* self) {
  torch_next.context_dtor[kIndex](self);
}
void connect_full_mesh(void* self, void* store, void* device) {
  torch_next.connect_full_mesh(self, store, device);
}
void connect_full_mesh_2022(void* self, void* store, void* device) {
  torch_next.connect_full_mesh_2022(self, store, device);
}
void* get_pair(void* self, int i) { return torch_next.get_pair(self, i); }
std::shared_ptr<void> make_context(void* self, void* device) { return torch_next.make_context(self, device); }

rf_wrapper all_wrappers[128];  // the core reads it after attach

bool join_wrappers() {
  size_t used = 0;
  for (const rf_wrapper* part : {kGroupWrappers, kCallWrappers, kExecutionWrappers, kStoreWrappers,
                                 kAutogradWrappers, torch_nccl::kGroupWrappers, torch_nccl::kCallWrappers})
    for (; part->symbol; ++part) {
      if (used + 1 == sizeof all_wrappers / sizeof *all_wrappers) return false;
      all_wrappers[used++] = *part;
    }
  return true;
}

int attach(const rf_core_v1* table, const char** reason) {
  *reason = "core of another version";
  if (table->version != RF_CORE_VERSION || table->bytes < sizeof(rf_core_v1)) return 1;
  if (!find_torch(table, reason)) return 1;
  *reason = "too many wrappers";
  if (!join_wrappers()) return 1;
  core = table;
  state();  // created before any fork that could come in between
  core->coverage(RF_LIB_C10D, "torch_gloo", torch.version, RF_HOOK_PRELOAD, "");
  core->coverage(RF_LIB_GLOO, "torch_gloo", 0, RF_HOOK_PRELOAD, "");
  core->thread_multiple(1);
  return 0;
}

}  // namespace

#define GROUP "_ZN4c10d16ProcessGroupGloo"
#define STORE_AND_OPTIONS                                                                                \
  "ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_" \
  "7OptionsENS5_ISA_EEEE"
const rf_wrapper kGroupWrappers[] = {
    RF_WRAP(GROUP "C1" STORE_AND_OPTIONS, &construct, construct),
    RF_WRAP(GROUP "C2" STORE_AND_OPTIONS, &construct, construct),
    RF_WRAP(GROUP "D1Ev", &destroy<&TorchNexts::destroy_d1>, destroy_d1),
    RF_WRAP(GROUP "D2Ev", &destroy<&TorchNexts::destroy_d2>, destroy_d2),
    RF_WRAP(GROUP "D0Ev", &destroy<&TorchNexts::destroy_d0>, destroy_d0),
    RF_WRAP("_ZN4gloo10rendezvous7Context15connectFullMeshESt10shared_ptrINS0_5StoreEERS2_INS_"
            "9transport6DeviceEE",
            &connect_full_mesh, connect_full_mesh),
    RF_WRAP(
        "_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE",
        &connect_full_mesh_2022, connect_full_mesh_2022),
    RF_WRAP("_ZN4gloo10rendezvous14ContextFactory11makeContextERSt10shared_ptrINS_9transport6DeviceEE",
            &make_context, make_context),
    RF_WRAP("_ZN4gloo7Context7getPairEi", &get_pair, get_pair),
    RF_WRAP("_ZN4gloo10rendezvous7ContextD1Ev", &destroy_context<0>, context_dtor[0]),
    RF_WRAP("_ZN4gloo10rendezvous7ContextD0Ev", &destroy_context<1>, context_dtor[1]),
    RF_WRAP("_ZN4gloo7ContextD1Ev", &destroy_context<2>, context_dtor[2]),
    RF_WRAP("_ZN4gloo7ContextD2Ev", &destroy_context<3>, context_dtor[3]),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::gloo_decoder

const rf_decoder_v1 rankfault_decoder_v1 = {
    .version = RF_CORE_VERSION,
    .bytes = sizeof(rf_decoder_v1),
    .name = "torch_gloo",
    .library = RF_LIB_C10D,
    .wrappers = rankfault::gloo_decoder::all_wrappers,
    .attach = rankfault::gloo_decoder::attach,
};
