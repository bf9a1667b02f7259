/* unused_nccl: a library that has a name of NCCL and that nobody calls. It says when it starts and ends. */
#include <unistd.h>

static void say(const char* text, size_t length) {
  if (write(STDOUT_FILENO, text, length) < 0) _exit(1);
}

__attribute__((constructor)) static void start(void) { say("starts ", 7); }
__attribute__((destructor)) static void end(void) { say("ends ", 5); }

int ncclGetVersion(int* version) {
  *version = 0;
  return 0;
}
