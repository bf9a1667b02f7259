/* sanitizers.c: lets a program with AddressSanitizer run although the agent is loaded before its runtime.
 *
 * gcc links that runtime as a library. The runtime ends the process unless it is loaded first, because it
 * must replace malloc and similar functions before any other library does. The agent defines no such name.
 * The runtime calls this function for its default options; ASAN_OPTIONS of the environment and a function of
 * this name in the program itself take precedence. */
__attribute__((visibility("default"))) const char* __asan_default_options(void);

const char* __asan_default_options(void) { return "verify_asan_link_order=0"; }
