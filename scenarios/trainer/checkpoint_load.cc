// Checkpoint, loading: every file is suspected until its length and checksum speak for it.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "scenarios/trainer/checkpoint.h"
#include "scenarios/trainer/file.h"

namespace trainer {

namespace {

using Reason = std::string;

bool read_all(int descriptor, void* bytes, size_t size) {
  char* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t got = ::read(descriptor, next, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// The size in the header is believed only when the file has exactly that size.
bool has_its_length(const CheckpointHeader& header, uint64_t file_bytes) {
  const uint64_t weight_bytes = file_bytes - sizeof header;
  return weight_bytes % sizeof(double) == 0 && weight_bytes / sizeof(double) == header.count;
}

std::variant<Checkpoint, Reason> read_checkpoint(const std::string& path, const CheckpointPolicy& policy) {
  File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) return errno == ELOOP ? Reason("is a symbolic link") : Reason(std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Reason(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return Reason("is not a regular file");
  CheckpointHeader header{};
  if (status.st_size == 0) return Reason("is empty");
  if (!read_all(file.get(), &header, sizeof header)) return Reason("is cut off inside its header");
  if (!std::equal(std::begin(header.magic), std::end(header.magic), kCheckpointMagic)) {
    return Reason("is not a checkpoint of this trainer");
  }
  if (header.fingerprint != policy.fingerprint) return Reason("belongs to another training");
  if (!has_its_length(header, static_cast<uint64_t>(status.st_size))) {
    return Reason("has " + std::to_string(status.st_size) + " bytes, not what its header says");
  }
  Checkpoint checkpoint{header.step, std::vector<double>(header.count)};
  if (!read_all(file.get(), checkpoint.weights.data(), header.count * sizeof(double))) {
    return Reason("cannot be read to its end");
  }
  if (policy.checksum && header.checksum != checkpoint_checksum(header, checkpoint.weights.data())) {
    return Reason("has a wrong checksum: torn or damaged");
  }
  return checkpoint;
}

bool has_our_name(const std::string& name) { return name.starts_with("ckpt-") && name.ends_with(".bin"); }

}  // namespace

LoadedCheckpoint load_newest_checkpoint(const CheckpointPolicy& policy) {
  LoadedCheckpoint result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(policy.directory, error)) {
    const std::string name = entry.path().filename();
    if (!has_our_name(name)) continue;
    auto read = read_checkpoint(entry.path(), policy);
    if (const auto* reason = std::get_if<Reason>(&read)) {
      result.rejected.push_back(name + " " + *reason);
    } else if (auto& checkpoint = std::get<Checkpoint>(read);
               !result.newest || checkpoint.step > result.newest->step) {
      result.newest = std::move(checkpoint);
    }
  }
  std::sort(result.rejected.begin(), result.rejected.end());
  return result;
}

}  // namespace trainer
