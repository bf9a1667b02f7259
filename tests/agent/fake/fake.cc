#include "tests/agent/fake/fake.h"

#include <cerrno>
#include <cstring>

namespace {
uint64_t ran = 0;

__attribute__((always_inline, no_sanitize("address"))) inline int left_on_stack(long from) {
  constexpr long kRedZone = 128, kDepth = 48L * 1024;
  const volatile unsigned char* here = nullptr;
#if defined(__x86_64__)
  __asm__ volatile("movq %%rsp, %0" : "=r"(here));
#else
  __asm__ volatile("mov %0, sp" : "=r"(here));
#endif
  int left = 0;
  for (long i = kRedZone + from; i < kDepth; ++i) left += here[-i] != 0 && here[-i] != kStackFill;
  return left;
}
}  // namespace

extern "C" {
int fake_library_probe = 1;

int fake_init(int, int) { return 0; }
int fake_all_reduce(const void* in, void* out, uint64_t count) {
  std::memcpy(out, in, count);
  ++ran;
  return 0;
}
int fake_throw(int code) { throw code; }
uint64_t fake_count() { return ran; }
long fake_thirteen(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
                   long l, long m) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l +
         13 * m;
}
long fake_by_value(FakeBig big, double x) {
  long sum = 0;
  for (int i = 0; i < 16; ++i) sum += (i + 1) * big.value[i];
  return sum + static_cast<long>(x);
}
FakeBig fake_returns_big(int from) {
  FakeBig big;
  for (int i = 0; i < 16; ++i) big.value[i] = from + i;
  return big;
}
double fake_mixed(double a, long b, double c, long d, double e, long f, double g, long h, double i, long j,
                  double k, long l, double m, long n, double o, long p) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l +
         13 * m + 14 * n + 15 * o + 16 * p;
}
int fake_errno() { return errno; }
int fake_put() { return 0; }
int fake_follower() { return 0; }
int fake_left_on_stack(long from, long, long, long, long, long) { return left_on_stack(from); }
int fake_left_by_wrapper(long from) { return left_on_stack(from); }
}
