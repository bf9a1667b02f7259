// RF_ASSERT: checks for our own bugs only; active in release builds, too. It ends the tool with status 70
// through a handler, so that the guardian still cleans up.
#pragma once

namespace rankfault {
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file, int line);
}  // namespace rankfault

#define RF_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0) \
               : ::rankfault::assertion_failed(#condition, message, __FILE__, __LINE__))
