/* node_cache.c: the ranks of a node share one copy of their data in a named segment, as data loaders do.
 *
 *   mpirun -np 4 node_cache --name=WORDS [--kib=N] [--steps=N] [--take-over] [--no-reserve] [--keep-on-error]
 *
 * Rank 0 creates /dev/shm/cache-WORDS, reserves its space and fills it; the other ranks attach. Every step
 * sums all of it. The rank that has an error reports it, and all ranks learn of it: every rank then ends with
 * status 5, and nothing stays in /dev/shm. Each of the last three options turns off one defence: --take-over
 * uses a segment that exists already, --no-reserve does not reserve the space, --keep-on-error does not
 * remove the segment. The program has no code for rankfault. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rank, steps = 5, kib = 256, take_over, no_reserve, keep_on_error;
static char name[128];
static size_t bytes;
static uint64_t* data; /* the first number is 1 when the rest is filled */

static int complain(const char* what, int error) {
  fprintf(stderr, "rank %d error: %s /dev/shm%s: %s\n", rank, what, name, strerror(error));
  return error;
}

static int map(int fd) {
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return complain("cannot map", errno);
  data = at;
  return 0;
}

/* Does not trust a segment that exists already: removes its name and creates a new one. A process that has
 * the old one open keeps it. */
static int open_new(void) {
  const int flags = O_RDWR | O_CREAT | (take_over ? 0 : O_EXCL);
  int fd = shm_open(name, flags, 0600);
  if (fd >= 0 || errno != EEXIST) return fd;
  fprintf(stderr, "rank %d: /dev/shm%s was left by another job; it is replaced\n", rank, name);
  shm_unlink(name);
  return shm_open(name, flags, 0600);
}

static int make(void) {
  const int fd = open_new();
  if (fd < 0) return complain("cannot make", errno);
  /* Without reserved space, a write that finds /dev/shm full ends with SIGBUS. */
  const int error =
      no_reserve ? (ftruncate(fd, (off_t)bytes) ? errno : 0) : posix_fallocate(fd, 0, (off_t)bytes);
  if (error) {
    close(fd);
    return complain("no room for", error);
  }
  if (map(fd)) return errno;
  if (take_over && data[0] != 0) return 0;
  for (size_t i = 1; i < bytes / sizeof *data; ++i) data[i] = i;
  data[0] = 1;
  return 0;
}

static int attach(void) {
  const int fd = shm_open(name, O_RDWR, 0);
  return fd < 0 ? complain("cannot attach", errno) : map(fd);
}

/* All ranks leave together: if one left alone, the others would wait for it. */
static void agree_or_leave(int error) {
  int worst = error;
  MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (!worst) return;
  if (!error) fprintf(stderr, "rank %d error: another rank has no cache: %s\n", rank, strerror(worst));
  if (rank == 0 && !keep_on_error) shm_unlink(name);
  MPI_Finalize();
  exit(5);
}

static void train(void) {
  uint64_t mine, all = 0;
  for (int step = 1; step <= steps; ++step) {
    printf("begins step %d\n", step);
    mine = 0;
    for (size_t i = 1; i < bytes / sizeof *data; ++i) mine += data[i] * (uint64_t)(rank + 1);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    printf("committed step %d\n", step);
  }
  printf("weights %llu\n", (unsigned long long)all);
  fflush(stdout);
}

static int read_words(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (!strncmp(word, "--name=", 7)) {
      const char* last = strrchr(word, '/'); /* the last part of a path is the job's own */
      snprintf(name, sizeof name, "/cache-%s", last ? last + 1 : word + 7);
    } else if (!strcmp(word, "--take-over")) {
      take_over = 1;
    } else if (!strcmp(word, "--no-reserve")) {
      no_reserve = 1;
    } else if (!strcmp(word, "--keep-on-error")) {
      keep_on_error = 1;
    } else if (sscanf(word, "--steps=%d", &steps) != 1 && sscanf(word, "--kib=%d", &kib) != 1) {
      fprintf(stderr, "node_cache: unknown argument %s\n", word);
      return 64;
    }
  }
  return name[0] && kib > 0 ? 0 : 64;
}

int main(int argc, char** argv) {
  if (read_words(argc, argv)) return 64;
  bytes = (size_t)kib * 1024;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  agree_or_leave(rank == 0 ? make() : 0);
  agree_or_leave(rank == 0 ? 0 : attach());
  train();
  if (rank == 0) shm_unlink(name);
  MPI_Finalize();
  return 0;
}
