// devices.h: the properties of the doubled devices, for the runtime, the driver and NVML.
#pragma once

namespace cuda_double {

constexpr int kComputeCapability = 90;
constexpr int kFirstBus = 0x10;  // device n of the machine is on PCI bus kFirstBus + n
constexpr int kDriverVersion = 12010;
constexpr char kDeviceName[] = "double of a CUDA device";

// The bus of a device that CUDA_VISIBLE_DEVICES leaves, and the reverse; -1 when there is none.
int bus_of(int device);
int device_on_bus(int bus);
// By the number of a cudaDeviceAttr; 0 for what the double does not have.
int attribute(int number);

}  // namespace cuda_double
