#include "harness/gpuless/core/devices.h"

#include "harness/gpuless/core/settings.h"

namespace gpuless {
namespace {

struct Attribute {
  int number, value;
};
// The public numbers of cudaDeviceAttr. No peer access, no virtual memory management, no multicast, no
// GPUDirect.
constexpr Attribute kAttributes[] = {
    {1, 1024},  // threads of a block
    {2, 1024},
    {5, 0x7fffffff},  // x of a block, of a grid
    {8, 48 * 1024},   // shared memory of a block
    {10, 32},         // warp
    {13, 1980000},    // clock
    {16, 132},        // multiprocessors
    {19, 1},          // can map host memory
    {31, 1},          // concurrent kernels
    {38, 50 << 20},   // L2
    {39, 2048},       // threads of a multiprocessor
    {41, 1},          // unified addressing
    {75, kComputeCapability / 10},
    {76, kComputeCapability % 10},
    {97, 227 * 1024},  // shared memory of a block, at most
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

}  // namespace gpuless
