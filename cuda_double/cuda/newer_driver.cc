// newer_driver.cc: driver functions that PyTorch looks up and NCCL must not find: with them NCCL would use
// cuMem and multicast, which the double does not have for it. Virtual memory is modelled; the others print
// their name.
#include <cstring>
#include <string>

#include "cuda_double/core/mapped_memory.h"
#include "cuda_double/core/settings.h"
#include "cuda_double/cuda/api.h"

using namespace cuda_double;

namespace {

CUresult as_driver(Error error) { return static_cast<CUresult>(error); }
// NOLINTNEXTLINE(performance-no-int-to-ptr): a device address is a number in the driver's API
void* address(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

CUresult reserve(CUdeviceptr* out, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  void* at = nullptr;
  const Error error = reserve_range(bytes, &at);
  *out = reinterpret_cast<CUdeviceptr>(at);
  return as_driver(error);
}
CUresult free_reserved(CUdeviceptr at, size_t bytes) { return as_driver(free_range(address(at), bytes)); }
CUresult granularity(size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = kMappedGranularity;
  return CUDA_SUCCESS;
}
CUresult create(CUmemGenericAllocationHandle* out, size_t bytes, const CUmemAllocationProp* properties,
                unsigned long long) {
  std::uint64_t handle = 0;
  const Error error = create_memory(bytes, properties->location.id, &handle);
  *out = handle;
  return as_driver(error);
}
CUresult release_handle(CUmemGenericAllocationHandle handle) { return as_driver(release_memory(handle)); }
CUresult map(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
             unsigned long long) {
  return as_driver(map_memory(address(at), bytes, offset, handle));
}
CUresult unmap(CUdeviceptr at, size_t bytes) { return as_driver(unmap_memory(address(at), bytes)); }
// What is mapped can be read and written from every device.
CUresult set_access(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; }

int not_modelled(...) {
  say_once("a function of a newer driver is not modelled");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

void* cuda_double::newer_driver_function(const char* name) {
  struct Named {
    const char* name;
    void* function;
  };
  static const Named functions[] = {
      {"cuMemAddressReserve", reinterpret_cast<void*>(&reserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(&free_reserved)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(&granularity)},
      {"cuMemCreate", reinterpret_cast<void*>(&create)},
      {"cuMemRelease", reinterpret_cast<void*>(&release_handle)},
      {"cuMemMap", reinterpret_cast<void*>(&map)},
      {"cuMemUnmap", reinterpret_cast<void*>(&unmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(&set_access)},
  };
  for (const Named& one : functions) {
    if (std::strcmp(one.name, name) == 0) return one.function;
  }
  if (void* function = driver_function(name)) return function;
  return std::strncmp(name, "cu", 2) == 0 ? reinterpret_cast<void*>(&not_modelled) : nullptr;
}
