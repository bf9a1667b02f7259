// RunKey: the secret of one run, which each of its node guardians must know.
//
// The tool makes it and writes it to a file that its own user alone can read. Nodes find that file on a
// shared file system, or get the key through the program that starts them. It has no conversion to a text
// other than hex(), whose result must reach no log, journal or command line: other users can read a command
// line.
//
// Threads: a RunKey is a value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/base/result.h"

namespace rankfault {

class RunKey {
 public:
  static constexpr size_t kBytes = 32;

  static RunKey fresh();                                      // from the kernel's random numbers
  static std::optional<RunKey> from_hex(const std::string&);  // 64 digits, nothing else

  std::string hex() const;
  std::span<const uint8_t, kBytes> bytes() const { return bytes_; }

  // Makes a new file with mode 0600. It is an error if the path exists.
  Status write(const std::string& path) const;
  // Refuses a file that belongs to another user, that other users may read or write, or that is a symbolic
  // link.
  static Result<RunKey> read(const std::string& path);

  bool operator==(const RunKey&) const = default;  // takes a time that depends on the keys: for tests

 private:
  RunKey() = default;
  std::array<uint8_t, kBytes> bytes_{};
};

void fill_with_random_bytes(std::span<uint8_t>);  // at most 256 bytes, from the kernel

}  // namespace rankfault
