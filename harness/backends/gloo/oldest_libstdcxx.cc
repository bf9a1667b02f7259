// oldest_libstdcxx: what the headers of newer g++ versions want from libstdc++.so.6, which a program's older one
// does not have (before GLIBCXX_3.4.29 of g++ 11). The version script keeps these names inside the decoder.
#include <bits/functexcept.h>
#include <sys/single_threaded.h>

// Before glibc 2.32. "More than one thread" is always right: it costs a shared_ptr an atomic instruction.
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;

namespace std {
void __throw_bad_array_new_length() { __throw_bad_alloc(); }
}  // namespace std
