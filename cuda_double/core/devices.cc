#include "cuda_double/core/devices.h"

#include "cuda_double/core/settings.h"

namespace cuda_double {
namespace {

struct Attribute {
  int number, value;
};
// The public numbers of cudaDeviceAttr. Peer access, virtual memory management, multicast and GPUDirect are
// absent.
constexpr Attribute kAttributes[] = {
    {1, 1024},  // threads per block
    {2, 1024},  // x, y and z of a block
    {3, 1024},
    {4, 64},
    {5, 0x7fffffff},  // x, y and z of a grid
    {6, 65535},
    {7, 65535},
    {8, 48 * 1024},  // bytes of shared memory per block
    {10, 32},        // threads per warp
    {12, 65536},     // registers per block
    {13, 1980000},   // clock, kHz
    {16, 132},       // multiprocessors
    {19, 1},         // can map host memory
    {31, 1},         // concurrent kernels
    {38, 50 << 20},  // bytes of L2
    {39, 2048},      // threads per multiprocessor
    {41, 1},         // unified addressing
    {75, kComputeCapability / 10},
    {76, kComputeCapability % 10},
    {81, 228 * 1024},  // bytes of shared memory per multiprocessor
    {97, 227 * 1024},  // bytes of shared memory per block, opt-in
};

}  // namespace

int bus_of(int device) { return kFirstBus + settings().devices.at(static_cast<unsigned>(device)); }

int device_on_bus(int bus) {
  const auto& devices = settings().devices;
  for (unsigned i = 0; i < devices.size(); ++i) {
    if (devices[i] == bus - kFirstBus) return static_cast<int>(i);
  }
  return -1;
}

int attribute(int number) {
  for (const Attribute& a : kAttributes) {
    if (a.number == number) return a.value;
  }
  return 0;
}

}  // namespace cuda_double
