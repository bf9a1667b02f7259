// settings.h: what the environment asks of the double; read once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpuless {

// When the stream entry of a collective is complete.
enum class Kernels { joined, at_once, never, until_abort };

struct Settings {
  int machine_devices = 8;            // RANKFAULT_CUDA_DEVICES: what NVML counts
  std::vector<int> devices;           // those that CUDA_VISIBLE_DEVICES leaves, in its order
  std::size_t memory = 16ul << 30;    // RANKFAULT_CUDA_MEMORY: bytes of one device
  Kernels kernels = Kernels::joined;  // RANKFAULT_CUDA_KERNELS
  std::string folder;                 // RANKFAULT_CUDA_FOLDER: where the ranks of a job meet
};

const Settings& settings();

// What CUDA_VISIBLE_DEVICES (null: not set) leaves of `count` devices: up to the first that is none, as CUDA
// does.
std::vector<int> visible_devices(const char* list, int count);

// A line about the double on stderr, once for each text.
void say_once(const std::string& text);

}  // namespace gpuless
