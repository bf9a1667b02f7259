// fake: a communication library for these tests, with signatures that are hard to forward.
#pragma once

#include <cstdint>

struct FakeBig {
  long value[16];
};

constexpr unsigned char kStackFill = 0xa5;

extern "C" {
int fake_init(int rank, int size);
int fake_all_reduce(const void* in, void* out, uint64_t count);
int fake_throw(int code);  // throws int
uint64_t fake_count();     // all_reduces that the library ran
long fake_thirteen(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
                   long l, long m);
long fake_by_value(FakeBig big, double x);
FakeBig fake_returns_big(int from);
double fake_mixed(double a, long b, double c, long d, double e, long f, double g, long h, double i, long j,
                  double k, long l, double m, long n, double o, long p);
int fake_errno();
int fake_put();
int fake_follower();  // 0; its wrapper adds 1
// Counts the bytes below the caller's frame, from `from` to 48 KiB down, that are neither 0 nor kStackFill.
int fake_left_on_stack(long from, long a, long b, long c, long d, long e);
int fake_left_by_wrapper(long from);
}
