// devices.h: the properties of the doubled devices, for the runtime, the driver and NVML.
#pragma once

namespace cuda_double {

constexpr int kComputeCapability = 90;
constexpr int kFirstBus = 0x10;  // device n of the machine is on PCI bus kFirstBus + n
constexpr int kDriverVersion = 12010;
constexpr char kDeviceName[] = "double of a CUDA device";

// The PCI bus of a device that CUDA_VISIBLE_DEVICES makes visible, and the visible device on a bus; -1: none.
int bus_of(int device);
int device_on_bus(int bus);
// The value of a cudaDeviceAttr by its number; 0 for one that the double does not have.
int attribute(int number);

}  // namespace cuda_double
