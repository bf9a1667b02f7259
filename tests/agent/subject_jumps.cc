// subject_jumps: behaviours that leave a call by a jump.
#include <pthread.h>
#include <sys/mman.h>

#include <csetjmp>
#include <csignal>

#include "tests/agent/fake/fake.h"
#include "tests/agent/subject.h"

namespace {
constexpr size_t kPage = 4096, kStack = 256 * 1024;
sigjmp_buf back;
char* page;  // not accessible until a handler changes that
int faults;

int reduce_from(const char* in) {
  char out[4];
  return fake_all_reduce(in, out, sizeof(out));
}

void on_fault(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
}

void jump(int) { siglongjmp(back, 1); }

// Makes a call inside the open one, leaves it by a jump to this function, and lets the open one continue.
void call_and_go_on(int) {
  if (++faults == 2) siglongjmp(back, 1);
  if (sigsetjmp(back, 1) == 0) reduce_from(page + 8);
  mprotect(page, kPage, PROT_READ);
}

void* call_with_other_stack(void* stack) {
  const stack_t other = {.ss_sp = stack, .ss_flags = 0, .ss_size = kStack};
  sigaltstack(&other, nullptr);
  on_fault(call_and_go_on, SA_ONSTACK);
  reduce_from(page);
  for (int i = 0; i < 2; ++i) reduce_from("abc");
  return nullptr;
}
}  // namespace

BEHAVIOUR(jump_out_of_a_call) {
  fake_init(0, 4);
  page = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  on_fault(jump, 0);
  if (sigsetjmp(back, 1) == 0) reduce_from(page);
  for (int i = 0; i < 2; ++i) reduce_from("abc");
  return 0;
}

// The alternate signal stack lies above the stack of the thread.
BEHAVIOUR(call_from_another_stack) {
  alignas(64) char stack[kStack];
  pthread_t thread;
  fake_init(0, 4);
  page = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pthread_create(&thread, nullptr, call_with_other_stack, stack) != 0) return 91;
  pthread_join(thread, nullptr);
  return faults;
}
