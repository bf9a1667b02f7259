// Checkpoint, loading: verifies the length and the checksum of every file.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "workloads/trainer/checkpoint.h"
#include "workloads/trainer/file.h"

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

// True if the file has exactly the size that its header states.
bool has_its_length(const CheckpointHeader& header, uint64_t file_bytes) {
  const uint64_t weight_bytes = file_bytes - sizeof header;
  return weight_bytes % sizeof(double) == 0 && weight_bytes / sizeof(double) == header.count;
}

// The last two characters of the magic are the version of the format.
Reason wrong_magic(const CheckpointHeader& header) {
  constexpr size_t kName = sizeof kCheckpointMagic - 2;
  const std::string found(header.magic, sizeof header.magic);
  const std::string ours(kCheckpointMagic, sizeof kCheckpointMagic);
  if (found == ours) return "";
  if (found.compare(0, kName, ours, 0, kName) != 0) return "is not a checkpoint of this trainer";
  return "is of version " + found.substr(kName) + ", this trainer reads " + ours.substr(kName);
}

bool has_our_name(const std::string& name) { return name.starts_with("ckpt-") && name.ends_with(".bin"); }

}  // namespace

std::variant<Checkpoint, Reason> read_checkpoint(const std::string& path, const CheckpointPolicy& policy) {
  File file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return errno == ELOOP ? Reason("is a symbolic link") : Reason(std::strerror(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Reason(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return Reason("is not a regular file");
  CheckpointHeader header{};
  if (status.st_size == 0) return Reason("is empty");
  if (!read_all(file.get(), &header, sizeof header)) return Reason("is cut off inside its header");
  if (const Reason reason = wrong_magic(header); !reason.empty()) return reason;
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

std::variant<std::vector<std::string>, Reason> checkpoint_names(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (has_our_name(it->path().filename())) names.push_back(it->path().filename());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return Reason("cannot read " + directory + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

LoadedCheckpoint load_newest_checkpoint(const CheckpointPolicy& policy) {
  LoadedCheckpoint result;
  auto listed = checkpoint_names(policy.directory);
  if (const auto* reason = std::get_if<Reason>(&listed)) {
    result.unusable = *reason;
    return result;
  }
  const auto& names = std::get<std::vector<std::string>>(listed);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    auto read = read_checkpoint(policy.directory + "/" + *name, policy);
    if (const auto* reason = std::get_if<Reason>(&read)) {
      result.rejected.push_back(*name + " " + *reason);
    } else if (auto& checkpoint = std::get<Checkpoint>(read);
               !result.newest || checkpoint.step > result.newest->step) {
      result.newest = std::move(checkpoint);
    }
    if (!policy.fallback) break;
  }
  return result;
}

}  // namespace trainer
