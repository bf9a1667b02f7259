// subject_files: behaviours of a program that writes checkpoints and uses shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/agent/fake/fake.h"
#include "tests/agent/subject.h"

// Writes FOLDER/model.tmp and renames it. Exits with the first errno.
BEHAVIOUR(checkpoint) {
  fake_init(0, 4);
  if (chdir(args[0]) != 0) return 99;
  const int fd = open("model.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return errno;
  const char text[] = "weights";
  for (int i = 0; i < 3; ++i)
    if (write(fd, text, sizeof(text)) != sizeof(text)) return errno;
  if (fsync(fd) != 0) return errno;
  if (close(fd) != 0) return errno;
  if (rename("model.tmp", "model") != 0) return errno;
  if (FILE* again = fopen("model", "r")) std::fclose(again);
  return unlink("model") == 0 ? 0 : errno;
}

// Allocates space in FOLDER/space in both ways. Exits with the first error, or with 90 if errno changed.
BEHAVIOUR(taken_space) {
  fake_init(0, 4);
  const int fd = open((std::string(args[0]) + "/space").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return errno;
  if (fallocate(fd, 0, 0, 4096) != 0) return errno;
  errno = ECHILD;
  if (const int error = posix_fallocate(fd, 0, 8192)) return errno == ECHILD ? error : 90;
  return errno == ECHILD ? 0 : 90;
}

// The kernel takes 2 bytes of the second write.
BEHAVIOUR(limited_file) {
  fake_init(0, 4);
  const rlimit ten{10, RLIM_INFINITY};
  const int fd = open((std::string(args[0]) + "/limited").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || setrlimit(RLIMIT_FSIZE, &ten) != 0) return errno;
  return write(fd, "weights", 8) == 8 && write(fd, "weights", 8) == 2 ? 0 : 90;
}

BEHAVIOUR(shared_memory) {
  fake_init(0, 4);
  const std::string name = "/rfagent." + std::to_string(getpid());
  const int made = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  if (made < 0 || ftruncate(made, 4096) != 0) return errno;
  const int attached = shm_open(name.c_str(), O_RDWR, 0600);
  const int failed = attached < 0 ? errno : 0;
  shm_unlink(name.c_str());
  return failed;
}

BEHAVIOUR(temporary_segment) {
  fake_init(0, 4);
  char path[] = "/dev/shm/rfagent-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return errno;
  std::puts(path);
  close(fd);
  return unlink(path) == 0 ? 0 : errno;
}

// The second shm_open opens the segment and does not make it.
BEHAVIOUR(opened_segment) {
  fake_init(0, 4);
  const std::string name = "/rfagent." + std::to_string(getpid());
  const int made = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  const int opened = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  struct statx st {};
  if (made < 0 || opened < 0 || statx(made, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0)
    return errno;
  std::printf("%llu %lld\n", static_cast<unsigned long long>(st.stx_ino),
              static_cast<long long>(st.stx_btime.tv_sec * 1'000'000'000 + st.stx_btime.tv_nsec));
  return shm_unlink(name.c_str()) == 0 ? 0 : errno;
}

// A vfork child opens and closes descriptors while it shares the memory of its parent.
BEHAVIOUR(vfork_with_files) {
  fake_init(0, 4);
  const pid_t child = vfork();
  if (child == 0) {
    const int fd = open("/dev/shm/nothing-there", O_RDONLY);
    _exit(fd >= 0 ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
