/* oldest_glibc.h: binds the functions that glibc 2.32 and 2.34 moved into libc.so.6 to their first versions.
 *
 * The agent and the decoders load into programs of glibc 2.28 and later. A library that is linked on a newer
 * machine would ask for the newer versions of these names. libpthread.so.0 and libdl.so.2, which define them
 * before 2.34, are linked to each object by name; from 2.34 on, both are empty.
 * Source: the Versions files of nptl/ and dlfcn/ in glibc.
 * Included before each source of these objects by the compiler's option -include. */
#pragma once

#define RF_OLDEST(name, version) __asm__(".symver " #name "," #name "@" version)
#if defined(__x86_64__)
#define RF_FIRST "GLIBC_2.2.5"
RF_OLDEST(dladdr1, "GLIBC_2.3.3");
RF_OLDEST(pthread_mutexattr_setrobust, "GLIBC_2.12");
#else /* aarch64: glibc 2.17 is its first */
#define RF_FIRST "GLIBC_2.17"
RF_OLDEST(dladdr1, RF_FIRST);
RF_OLDEST(pthread_mutexattr_setrobust, RF_FIRST);
#endif

RF_OLDEST(dladdr, RF_FIRST);
RF_OLDEST(dlclose, RF_FIRST);
RF_OLDEST(pthread_attr_getstack, RF_FIRST);
RF_OLDEST(pthread_getattr_np, RF_FIRST);
RF_OLDEST(pthread_key_create, RF_FIRST);
RF_OLDEST(pthread_mutexattr_destroy, RF_FIRST);
RF_OLDEST(pthread_mutexattr_init, RF_FIRST);
RF_OLDEST(pthread_mutexattr_setpshared, RF_FIRST);
RF_OLDEST(pthread_setspecific, RF_FIRST);
#if !defined(RF_DEFINES_DLSYM) /* the agent stands in for both */
RF_OLDEST(dlopen, RF_FIRST);
RF_OLDEST(dlsym, RF_FIRST);
#endif
