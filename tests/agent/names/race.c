/* race.c: one thread asks for a name of a library and does not get it, while another thread loads that
 * library and a plugin that calls it. Usage: race FIFO PLUGIN, with the folder of the FIFO in
 * LD_LIBRARY_PATH.
 *
 * The FIFO has the file name of the library, so the loader opens it first and waits inside dlopen(). Then
 * the other thread asks. When it sleeps (the loader's lock is held), the FIFO delivers an object of
 * another class, which the loader skips. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile pid_t asker;
static volatile int is_asker_there, is_time_to_ask;

static void* ask(void* answer) {
  asker = gettid();
  while (!is_time_to_ask) sched_yield(); /* does not sleep until it asks */
  *(void**)answer = dlsym(RTLD_DEFAULT, "MPI_Barrier");
  return NULL;
}

static int sleeps(pid_t thread) {
  char path[64], text[512] = "";
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
  FILE* stat = fopen(path, "r");
  if (!stat) return 1; /* the thread has its answer and has ended */
  const size_t n = fread(text, 1, sizeof(text) - 1, stat);
  fclose(stat);
  const char* name_ends = n ? strrchr(text, ')') : NULL;
  return name_ends && name_ends[2] == 'S';
}

static void* ask_in_the_middle(void* fifo) {
  static Elf64_Ehdr other = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32}};
  void* answer = NULL;
  pthread_t thread;
  pthread_create(&thread, NULL, ask, &answer); /* before dlopen: a new thread takes the loader's lock */
  while (!asker) sched_yield();
  is_asker_there = 1;
  const int to_loader = open(fifo, O_WRONLY | O_CLOEXEC);
  is_time_to_ask = 1;
  while (!sleeps(asker)) sched_yield();
  if (write(to_loader, &other, sizeof(other)) != sizeof(other)) perror(fifo);
  close(to_loader);
  pthread_join(thread, NULL);
  printf("MPI_Barrier: %s\n", answer ? "there" : "absent");
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t thread;
  if (argc < 3 || pthread_create(&thread, NULL, ask_in_the_middle, argv[1])) return 2;
  while (!is_asker_there) sched_yield();
  void* plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  pthread_join(thread, NULL);
  if (!plugin) {
    puts(dlerror());
    return 1;
  }
  int (*call)(void);
  int (*version)(int*, int*);
  *(void**)(&call) = dlsym(plugin, "plugin");
  *(void**)(&version) = dlsym(plugin, "MPI_Get_version");
  int major = 0, minor = 0;
  printf("plugin gives %d\n", call());
  version(&major, &minor);
  printf("version %d.%d\n", major, minor);
  return 0;
}
