#include "cuda_double/core/settings.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace cuda_double {
namespace {

Kernels kernels_of(const std::string& word) {
  if (word == "at_once") return Kernels::at_once;
  if (word == "never") return Kernels::never;
  if (word == "until_abort") return Kernels::until_abort;
  if (!word.empty() && word != "joined") {
    std::fprintf(
        stderr, "CUDA double: RANKFAULT_CUDA_KERNELS must be joined, at_once, never or until_abort, not %s\n",
        word.c_str());
    std::exit(64);
  }
  return Kernels::joined;
}

std::string word_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Settings read_settings() {
  Settings s;
  if (std::string n = word_of("RANKFAULT_CUDA_DEVICES"); !n.empty()) s.machine_devices = std::atoi(n.c_str());
  if (std::string n = word_of("RANKFAULT_CUDA_MEMORY"); !n.empty())
    s.memory = std::strtoull(n.c_str(), nullptr, 0);
  s.devices = visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), s.machine_devices);
  s.kernels = kernels_of(word_of("RANKFAULT_CUDA_KERNELS"));
  s.folder = word_of("RANKFAULT_CUDA_FOLDER");
  return s;
}

}  // namespace

std::vector<int> visible_devices(const char* list, int count) {
  std::vector<int> all;
  if (!list) {
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  for (const char* at = list; *at;) {
    char* end = nullptr;
    long device = std::strtol(at, &end, 10);
    if (end == at || device < 0 || device >= count) break;
    for (int seen : all) {
      if (seen == device) return {};  // a device named twice: none is visible
    }
    all.push_back(static_cast<int>(device));
    at = *end == ',' ? end + 1 : end;
    if (*end && *end != ',') break;
  }
  return all;
}

const Settings& settings() {
  static const Settings* s = new Settings(read_settings());
  return *s;
}

void say_once(const std::string& text) {
  static std::mutex* mutex = new std::mutex;
  static std::set<std::string>* said = new std::set<std::string>;
  std::lock_guard<std::mutex> lock(*mutex);
  if (said->insert(text).second) std::fprintf(stderr, "CUDA double: %s\n", text.c_str());
}

}  // namespace cuda_double
