// settings.h: the settings of the double from the environment; read once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuda_double {

// When the stream entry of a collective is complete.
enum class Kernels { joined, at_once, never, until_abort };

struct Settings {
  int machine_devices = 8;            // RANKFAULT_CUDA_DEVICES: number of devices that NVML counts
  std::vector<int> devices;           // the devices that CUDA_VISIBLE_DEVICES makes visible, in its order
  std::size_t memory = 16ul << 30;    // RANKFAULT_CUDA_MEMORY: bytes of one device
  Kernels kernels = Kernels::joined;  // RANKFAULT_CUDA_KERNELS
  std::string folder;                 // RANKFAULT_CUDA_FOLDER: where the ranks of a job meet
};

const Settings& settings();

// The devices that CUDA_VISIBLE_DEVICES (`list`; null: not set) makes visible of `count` devices: those
// before the first invalid number, as CUDA does.
std::vector<int> visible_devices(const char* list, int count);

// Writes a line about the double to stderr, once for each text.
void say_once(const std::string& text);

}  // namespace cuda_double
