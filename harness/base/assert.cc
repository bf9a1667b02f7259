#include "harness/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace rankfault {

void assertion_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "rankfault: internal error: %s (%s) at %s:%d\n", message, condition, file, line);
  std::_Exit(70);  // the guardian sees that the tool ended and cleans up
}

}  // namespace rankfault
