// Result: a value, or a mistake of the user or a refusal of the system, with its place.
//
// Four kinds of failure never mix. (1) A mistake of the user or a refusal of the system is an Error in a
// Result. (2) Our own bug is an RF_ASSERT. (3) The fate of the workload is data (RankEnd). (4) The verdict is
// a Verdict. Exceptions of other libraries stop in the one file that calls the library.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "harness/base/assert.h"

namespace rankfault {

// A position in a user's file; line and column count from 1, 0 means unknown.
struct SourcePos {
  std::string file;
  int line = 0;
  int column = 0;

  std::string to_string() const;  // "file.yaml:12:7", "file.yaml" or ""
};

enum class ErrorKind {
  kUsage,     // the command line or the scenario is wrong: exit 64
  kRefused,   // something that the user named cannot be used; the message says why: exit 64
  kHost,      // the machine refuses something that a run needs: space, descriptors, a right: exit 71
  kUnjudged,  // the job ran, and its records cannot be read: exit 2, unknown
  kMissing,   // this machine lacks a need of the scenario: skipped, exit 77
  kInternal,  // should not happen: exit 70
};

struct Error {
  ErrorKind kind = ErrorKind::kUsage;
  std::string message;
  SourcePos where;

  std::string to_string() const;  // "file.yaml:12:7: message"
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    RF_ASSERT(ok(), "value() of an error");
    return std::get<T>(state_);
  }
  const T& value() const& {
    RF_ASSERT(ok(), "value() of an error");
    return std::get<T>(state_);
  }
  T&& value() && {
    RF_ASSERT(ok(), "value() of an error");
    return std::get<T>(std::move(state_));
  }
  const Error& error() const {
    RF_ASSERT(!ok(), "error() of a value");
    return std::get<Error>(state_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

inline Error usage_error(std::string message, SourcePos where = {}) {
  return {ErrorKind::kUsage, std::move(message), std::move(where)};
}
inline Error refused(std::string message) { return {ErrorKind::kRefused, std::move(message), {}}; }
inline Error host_refused(std::string message) { return {ErrorKind::kHost, std::move(message), {}}; }
inline Error unjudged(std::string message) { return {ErrorKind::kUnjudged, std::move(message), {}}; }
inline Error missing(std::string message) { return {ErrorKind::kMissing, std::move(message), {}}; }

// "open /x: No such file or directory": an error of a system call, from errno. A full or read-only disk, a
// limit or a missing right is a refusal by the machine (kHost).
Error errno_error(const std::string& what);
Error errno_error(const std::string& what, int number);

}  // namespace rankfault
