// Checkpoint, writing: nothing is replaced before the new bytes are safe.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "scenarios/trainer/checkpoint.h"
#include "scenarios/trainer/file.h"
#include "scenarios/trainer/hash.h"

namespace trainer {

namespace {

constexpr size_t kKept = 2;

CheckpointHeader header_of(const CheckpointPolicy& policy, const Checkpoint& checkpoint) {
  CheckpointHeader header{};
  std::copy(std::begin(kCheckpointMagic), std::end(kCheckpointMagic), header.magic);
  header.fingerprint = policy.fingerprint;
  header.step = checkpoint.step;
  header.count = checkpoint.weights.size();
  header.checksum = checkpoint_checksum(header, checkpoint.weights.data());
  return header;
}

bool write_all(int descriptor, const void* bytes, size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

std::optional<std::string> write_file(const std::string& path, const CheckpointPolicy& policy,
                                      const Checkpoint& checkpoint) {
  const CheckpointHeader header = header_of(policy, checkpoint);
  const size_t weight_bytes = checkpoint.weights.size() * sizeof(double);
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error("cannot create", path);
  // The space is taken first: a full disk is noticed before a byte is written.
  const int full = ::posix_fallocate(file.get(), 0, static_cast<off_t>(sizeof header + weight_bytes));
  if (full != 0 && full != EOPNOTSUPP && full != EINVAL) {
    errno = full;
    return system_error("no space for", path);
  }
  if (!write_all(file.get(), &header, sizeof header) ||
      !write_all(file.get(), checkpoint.weights.data(), weight_bytes)) {
    return system_error("cannot write", path);
  }
  if (policy.fsync && ::fsync(file.get()) != 0) return system_error("cannot fsync", path);
  return std::nullopt;
}

std::optional<std::string> fsync_directory(const std::string& path) {
  File directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open() || ::fsync(directory.get()) != 0) return system_error("cannot fsync", path);
  return std::nullopt;
}

bool has_form(const std::string& name, const char* ending) {
  return name.starts_with("ckpt-") && name.ends_with(ending);
}

std::vector<std::string> names_with(const std::string& directory, const char* ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (has_form(entry.path().filename(), ending)) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void remove_old_ones(const std::string& directory) {
  const auto names = names_with(directory, ".bin");
  for (size_t i = 0; i + kKept < names.size(); ++i) ::unlink((directory + "/" + names[i]).c_str());
}

}  // namespace

uint64_t checkpoint_checksum(const CheckpointHeader& header, const double* weights) {
  const uint64_t hash = hash_bytes(&header, offsetof(CheckpointHeader, checksum));
  return hash_bytes(weights, header.count * sizeof(double), hash);
}

std::string checkpoint_name(int64_t step) {
  char name[48];
  std::snprintf(name, sizeof name, "ckpt-%08lld.bin", static_cast<long long>(step));
  return name;
}

std::optional<std::string> write_checkpoint(const CheckpointPolicy& policy, const Checkpoint& checkpoint) {
  if (::mkdir(policy.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("cannot make", policy.directory);
  }
  const std::string path = policy.directory + "/" + checkpoint_name(checkpoint.step);
  const std::string written = policy.rename ? path + ".tmp" : path;
  if (auto failure = write_file(written, policy, checkpoint)) {
    if (policy.rename) ::unlink(written.c_str());
    return failure;
  }
  if (policy.rename && ::rename(written.c_str(), path.c_str()) != 0)
    return system_error("cannot rename to", path);
  if (policy.fsync) {
    if (auto failure = fsync_directory(policy.directory)) return failure;
  }
  remove_old_ones(policy.directory);
  return std::nullopt;
}

void remove_unfinished_checkpoints(const CheckpointPolicy& policy) {
  for (const auto& name : names_with(policy.directory, ".bin.tmp")) {
    ::unlink((policy.directory + "/" + name).c_str());
  }
}

}  // namespace trainer
