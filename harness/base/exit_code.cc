#include "harness/base/exit_code.h"

namespace rankfault {

ExitCode exit_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kRefused:
      return kExitUsage;
    case ErrorKind::kHost:
      return kExitHost;
    case ErrorKind::kUnjudged:
      return kExitUnknown;
    case ErrorKind::kMissing:
      return kExitSkipped;
    case ErrorKind::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace rankfault
