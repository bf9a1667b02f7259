// subject_opening: a behaviour in which another thread calls while this thread opens its record.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include "tests/agent/fake/fake.h"
#include "tests/agent/subject.h"

namespace {

// Holds every fallocate of this thread until it is answered through the descriptor; -1: the kernel cannot do
// it.
int hold_fallocate() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

// Waits for the next held call. `meanwhile` runs before that call continues.
template <typename F>
void answer(int fd, F meanwhile) {
  seccomp_notif asked{};
  if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) _exit(94);
  meanwhile();
  seccomp_notif_resp reply{};
  reply.id = asked.id;
  reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0) _exit(95);
}

void call() {
  char in[4] = "abc", out[4];
  if (fake_all_reduce(in, out, sizeof in) != 0) _exit(96);
}

}  // namespace

// While this thread extends its record for the Nth time, another thread makes a call, which waits for it in
// vain.
BEHAVIOUR(calls_while_another_opens) {
  const int at = std::atoi(args[0]);
  std::atomic<int> listener{0};
  std::thread other([&] {
    while (listener == 0) std::this_thread::yield();
    for (int i = 1; listener > 0 && i <= at; ++i)
      answer(listener, [=] {
        if (i == at) call();
      });
    if (listener > 0) close(listener);  // from now on fallocate fails, so the agent writes zeros
  });
  listener = hold_fallocate();
  if (listener < 0) _exit(77);
  fake_init(0, 4);
  other.join();
  return fake_count() == 1 ? 0 : 1;
}
