// torch_store.cc: records waits for keys of PyTorch's store as entered and left, so that a rank that waits
// for a key which no rank sets is visible there. Stores call each other (a prefix, then TCP): only the
// outermost call is recorded.
#include "harness/agent/named_calls.h"
#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {
namespace {

using Keys = std::vector<std::string>;
using Bytes = std::vector<uint8_t>;

enum Kind { kPrefix, kTcp, kFile, kHash };

rf_call named(int id, const void* where) {
  rf_call call = make_call(RF_LIB_C10D, RF_OP_STORE, where);
  call.seq = RF_SEQ_NONE;
  call.tag = id;
  return call;
}

// Whether the store gets the request. A skipped wait ends at once; a skipped get returns an empty value.
bool is_asked(const RecordedCall& recorded, const std::string& what) {
  if (recorded.verdict() == RF_DO_FAIL)
    throw std::runtime_error("[rankfault] store " + what + " timeout (injected)");
  return recorded.verdict() == RF_DO_FORWARD;
}

#define HERE __builtin_return_address(0)

template <int kKind>
void wait(void* store, const Keys& keys) {
  rf_call call = named(RF_NAMED_STORE_WAIT, HERE);
  RecordedCall recorded(call);
  if (is_asked(recorded, "wait")) torch_next.store_wait[kKind](store, keys);
  recorded.returned();
}

template <int kKind>
void wait_for(void* store, const Keys& keys, const std::chrono::milliseconds& limit) {
  rf_call call = named(RF_NAMED_STORE_WAIT, HERE);
  call.timeout_ns = limit.count() > 0 ? static_cast<uint64_t>(limit.count()) * 1'000'000 : 0;
  RecordedCall recorded(call);
  if (is_asked(recorded, "wait")) torch_next.store_wait_for[kKind](store, keys, limit);
  recorded.returned();
}

template <int kKind>
Bytes get(void* store, const std::string& key) {
  rf_call call = named(RF_NAMED_STORE_GET, HERE);
  RecordedCall recorded(call);
  Bytes value = is_asked(recorded, "get") ? torch_next.store_get[kKind](store, key) : Bytes{};
  recorded.returned();
  return value;
}

}  // namespace

#define KEYS "RKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EE"
#define LIMIT "RKNSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"
#define KEY "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define STORE_WRAPPERS(name, kind)                                              \
  RF_WRAP(name "4waitE" KEYS, &wait<kind>, store_wait[kind]),                   \
      RF_WRAP(name "4waitE" KEYS LIMIT, &wait_for<kind>, store_wait_for[kind]), \
      RF_WRAP(name "3getE" KEY, &get<kind>, store_get[kind])
const rf_wrapper kStoreWrappers[] = {
    STORE_WRAPPERS("_ZN4c10d11PrefixStore", kPrefix),
    STORE_WRAPPERS("_ZN4c10d8TCPStore", kTcp),
    STORE_WRAPPERS("_ZN4c10d9FileStore", kFile),
    STORE_WRAPPERS("_ZN4c10d9HashStore", kHash),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::gloo_decoder
