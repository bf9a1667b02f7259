// torch_version.cc: finds the version of PyTorch, and the functions that the decoder calls in it.
#include "harness/backends/gloo/torch_version.h"

#include <cstdio>
#include <cstring>
#include <map>

#include "harness/agent/torch_versions.h"
#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {

FoundTorch torch;

namespace {

// The counts of intrusive_ptr_target have 8 bytes each up to PyTorch 2.2, and 4 bytes each (or 8 together)
// from 2.3 on.
constexpr TorchOffsets kTorch1{24, 40, 24, 32};
constexpr TorchOffsets kTorch2{16, 32, 16, 24};

template <typename F>
bool find(const rf_core_v1* table, const char* symbol, F& function) {
  function = reinterpret_cast<F>(table->resolve(symbol));
  return function != nullptr;
}

#define STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

// ---- PyTorch 1.13 has no functions of C for these -----------------------------------------------------

// c10::TensorImpl of 1.13. Checked against PyTorch's own undefined tensor.
constexpr uint32_t kNumelOfTensor = 168, kDtypeOfTensor = 176;
constexpr uint16_t kUndefinedDtype = 18;

int32_t numel_of(const void* tensor, int64_t* n) {
  return *n = layout::at<int64_t>(*static_cast<void* const*>(tensor), kNumelOfTensor), 0;
}
int32_t dtype_of(const void* tensor, int32_t* type) {
  return *type = layout::at<uint16_t>(*static_cast<void* const*>(tensor), kDtypeOfTensor), 0;
}

bool has_tensors_of_1(const rf_core_v1* table) {
  const void* undefined = table->resolve("_ZN3c1019UndefinedTensorImpl10_singletonE");
  return undefined && layout::at<int64_t>(undefined, kNumelOfTensor) == 0 &&
         layout::at<uint16_t>(undefined, kDtypeOfTensor) == kUndefinedDtype;
}

// The store's methods take and give bytes there. They are called by name, so only of a PrefixStore.
using Bytes = std::vector<uint8_t>;
void (*prefix_store_set)(void*, const std::string&, const Bytes&);
Bytes (*prefix_store_get)(void*, const std::string&);

void set_text(void* store, const std::string& key, const std::string& value) {
  if (is_prefix_store(store)) prefix_store_set(store, key, Bytes(value.begin(), value.end()));
}
std::string get_text(void* store, const std::string& key) {
  if (!is_prefix_store(store)) return "";
  const Bytes bytes = prefix_store_get(store, key);
  return {bytes.begin(), bytes.end()};
}

bool find_functions_of_1(const rf_core_v1* table) {
  torch_function.numel = numel_of;
  torch_function.dtype = dtype_of;
  torch_function.store_set = set_text;
  torch_function.store_get = get_text;
  return has_tensors_of_1(table) &&
         find(table, "_ZN4c10d11PrefixStore3setE" STRING "RKSt6vectorIhSaIhEE", prefix_store_set) &&
         find(table, "_ZN4c10d11PrefixStore3getE" STRING, prefix_store_get) &&
         table->resolve(
             "_ZN4c10d16ProcessGroupGloo9AsyncWork19finishWorkGlooErrorENSt15__exception_ptr13exception_"
             "ptrE");
}

bool find_functions_of_2(const rf_core_v1* table) {
  find(table, "_ZN4c10d16ProcessGroupGloo25getSequenceNumberForGroupEv", torch_function.sequence);
  find(table, "_ZN5torch8autograd25get_current_graph_task_idEv", torch_function.autograd_pass);
  return find(table, "aoti_torch_get_numel", torch_function.numel) &&
         find(table, "aoti_torch_get_dtype", torch_function.dtype) &&
         find(table, "_ZN4c10d5Store3setE" STRING "S8_", torch_function.store_set) &&
         find(table, "_ZN4c10d5Store10get_to_strE" STRING, torch_function.store_get) &&
         table->resolve(
             "_ZN4c10d16ProcessGroupGloo9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_"
             "ptrE");
}

// What PyTorch says about its own build: "TORCH_VERSION" -> "2.13.0".
uint32_t version_of(const rf_core_v1* table, const char** reason) {
  const std::map<std::string, std::string>& (*options)() = nullptr;
  const bool old_strings = table->resolve("_ZN6caffe215GetBuildOptionsEv") != nullptr;
  *reason = old_strings ? "PyTorch of the older C++ ABI" : "PyTorch without a version";
  if (!find(table, "_ZN6caffe215GetBuildOptionsB5cxx11Ev", options)) return 0;
  const auto said = options().find("TORCH_VERSION");
  if (said == options().end()) return 0;
  snprintf(torch.release, sizeof torch.release, "%s", said->second.substr(0, said->second.find('+')).c_str());
  return rf_torch_version(said->second.c_str());
}

}  // namespace

const TorchOffsets* offsets_of(uint32_t version) {
  if (!rf_torch_is_known(version)) return nullptr;
  return version < 20000 ? &kTorch1 : &kTorch2;
}

uint32_t offset_of_getter(uint64_t (*getter)(void*)) {
  const auto* code = reinterpret_cast<const unsigned char*>(getter);
#if defined(__x86_64__)  // mov OFFSET(%rdi),%rax; ret
  uint32_t offset = 0;
  memcpy(&offset, code + 3, sizeof offset);
  return code[0] == 0x48 && code[1] == 0x8b && code[2] == 0x87 && code[7] == 0xc3 ? offset : 0;
#elif defined(__aarch64__)  // bti c, where it was built with branch protection; ldr x0, [x0, #OFFSET]; ret
  uint32_t first = 0, load = 0, leave = 0;
  memcpy(&first, code, sizeof first);
  if (first == 0xd503245fu) code += sizeof first;
  memcpy(&load, code, sizeof load);
  memcpy(&leave, code + sizeof load, sizeof leave);
  return (load & 0xffc003ffu) == 0xf9400000u && leave == 0xd65f03c0u ? (load >> 10 & 0xfff) * 8 : 0;
#else
  return code ? 0 : 0;
#endif
}

bool is_prefix_store(const void* store) {
  return torch_function.prefix_store_table &&
         layout::at<const char*>(store, 0) ==
             static_cast<const char*>(torch_function.prefix_store_table) + 16;
}

bool find_torch(const rf_core_v1* table, const char** reason) {
  static char said[32];  // as long as the record keeps it
  torch.version = version_of(table, reason);
  if (!torch.version) return false;
  snprintf(said, sizeof said, "PyTorch %u.%u is not known", torch.version / 10000 % 100,
           torch.version / 100 % 100);
  *reason = said;
  torch.offsets = offsets_of(torch.version);
  if (!torch.offsets) return false;
  snprintf(said, sizeof said, "PyTorch %u.%u of another build", torch.version / 10000 % 100,
           torch.version / 100 % 100);
  if (!table->resolve("_ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv")) return false;
  find(table, "_ZTVN4c10d11PrefixStoreE", torch_function.prefix_store_table);
  find(table, "_ZN5torch8autograd32get_current_graph_task_exec_infoEv", torch_function.task_of_thread);
  find(table,
       "_ZN4c10d11PrefixStore4waitERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EE"
       "RKNSt6chrono8durationIlSt5ratioILl1ELl1000EEEE",
       torch_function.prefix_store_wait);
  return torch.version < 20000 ? find_functions_of_1(table) : find_functions_of_2(table);
}

}  // namespace rankfault::gloo_decoder
