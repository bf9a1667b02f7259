/* sanitizers.c: lets a program with AddressSanitizer run although the agent is loaded before its runtime.
 *
 * gcc links that runtime as a library, and it ends the process unless it is the first one loaded, because it
 * has to stand in for malloc and its like before anybody else does. The agent defines no such name. The
 * runtime asks this function for its default options; ASAN_OPTIONS of the environment and a function of this
 * name in the program itself come before it. */
__attribute__((visibility("default"))) const char* __asan_default_options(void);

const char* __asan_default_options(void) { return "verify_asan_link_order=0"; }
