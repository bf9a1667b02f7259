// Checkpoint, writing: removes an older checkpoint only after the new one is safe.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "workloads/trainer/checkpoint.h"
#include "workloads/trainer/file.h"
#include "workloads/trainer/hash.h"

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

bool write_all(int descriptor, const void* bytes, size_t size, bool write_on) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    size -= static_cast<size_t>(written);
    if (!write_on) break;
  }
  return true;
}

std::optional<std::string> write_file(const std::string& path, const CheckpointPolicy& policy,
                                      const Checkpoint& checkpoint) {
  const CheckpointHeader header = header_of(policy, checkpoint);
  const size_t weight_bytes = checkpoint.weights.size() * sizeof(double);
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error("cannot create", path);
  // Reserves the space first, so that a full disk is detected before the first byte is written.
  const int full = ::posix_fallocate(file.get(), 0, static_cast<off_t>(sizeof header + weight_bytes));
  if (full != 0 && full != EOPNOTSUPP && full != EINVAL) {
    errno = full;
    return system_error("no space for", path);
  }
  if (!write_all(file.get(), &header, sizeof header, policy.write_on) ||
      !write_all(file.get(), checkpoint.weights.data(), weight_bytes, policy.write_on)) {
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

// Renames the file to the first free name, so that a file that a loader rejected stays as it is.
std::optional<std::string> rename_to_a_free_name(const std::string& directory, const std::string& from,
                                                 int64_t step) {
  constexpr int kNames = 100;
  for (int copy = 0; copy < kNames; ++copy) {
    const std::string to = directory + "/" + checkpoint_name(step, copy);
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return std::nullopt;
    if (errno != EEXIST) return system_error("cannot rename to", to);
  }
  return "no name is free for step " + std::to_string(step) + " in " + directory;
}

void remove_old_ones(const CheckpointPolicy& policy) {
  const auto listed = checkpoint_names(policy.directory);
  const auto* names = std::get_if<std::vector<std::string>>(&listed);
  if (!names) return;
  std::vector<std::pair<int64_t, std::string>> whole;
  for (const std::string& name : *names) {
    const std::string path = policy.directory + "/" + name;
    const auto read = read_checkpoint(path, policy);
    if (const auto* checkpoint = std::get_if<Checkpoint>(&read)) whole.emplace_back(checkpoint->step, path);
  }
  std::sort(whole.begin(), whole.end());
  for (size_t i = 0; i + kKept < whole.size(); ++i) ::unlink(whole[i].second.c_str());
}

}  // namespace

uint64_t checkpoint_checksum(const CheckpointHeader& header, const double* weights) {
  const uint64_t hash = hash_bytes(&header, offsetof(CheckpointHeader, checksum));
  return hash_bytes(weights, header.count * sizeof(double), hash);
}

std::string checkpoint_name(int64_t step, int copy) {
  char name[48];
  std::snprintf(name, sizeof name, "ckpt-%08lld", static_cast<long long>(step));
  return name + (copy > 0 ? "." + std::to_string(copy) : "") + ".bin";
}

std::optional<std::string> write_checkpoint(const CheckpointPolicy& policy, const Checkpoint& checkpoint) {
  if (::mkdir(policy.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return system_error("cannot make", policy.directory);
  }
  const std::string path = policy.directory + "/" + checkpoint_name(checkpoint.step);
  const std::string written = policy.rename ? path + ".tmp" : path;
  auto failure = write_file(written, policy, checkpoint);
  if (!failure && policy.rename) failure = rename_to_a_free_name(policy.directory, written, checkpoint.step);
  if (failure && policy.rename) ::unlink(written.c_str());
  if (!failure && policy.fsync) failure = fsync_directory(policy.directory);
  if (!failure) remove_old_ones(policy);
  return failure;
}

void remove_unfinished_checkpoints(const CheckpointPolicy& policy) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(policy.directory, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("ckpt-") && name.ends_with(".bin.tmp")) ::unlink(entry.path().c_str());
  }
}

}  // namespace trainer
