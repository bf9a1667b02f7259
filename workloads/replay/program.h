/* program.h: the text of a replay, and its parser for the programs in C and C++. A text is, for example:
 *
 *   ranks 8                                # first: the number of ranks of the job
 *   group tensor0 0 1                      # a communicator; "world" exists without a line
 *   repeat 10
 *     0-7 all_reduce world float32 1024 sum
 *     0,2-5 broadcast world int64 10 root 0
 *     0 isend tensor0 float32 100 to 1 tag 7
 *     1 recv tensor0 float32 100 from 0 tag 7
 *     0 wait
 *     0-7 pause 5ms
 *   end
 *
 * A line that begins with `healthy` is performed without the option --diverge, and one that begins with
 * `diverging` with it. A line binds only the ranks that it begins with, and each rank performs its lines in
 * order. Roots and the ends of messages are ranks of the world. The number counts the elements that a rank
 * gives: its own part of an all_gather, a gather and a scatter, the whole input of a reduce_scatter and an
 * all_to_all (rounded up to a multiple of the members). In an all_to_allv, a rank gives an equal share to
 * each member and adds the remainder to its own. A collective whose name ends in _async, an isend and an
 * irecv are pending until the next `wait` of that rank, or until the end of the text. A type of the same size
 * stands for a type that is not in replay_dtype. */
#ifndef RANKFAULT_WORKLOADS_REPLAY_PROGRAM_H
#define RANKFAULT_WORKLOADS_REPLAY_PROGRAM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBadText = 64, kMostRanks = 4096, kMostGroups = 1024, kDeepest = 4, kNameSize = 64 };
static const int64_t kMostBytes = INT64_C(1) << 30, kMostTag = INT32_MAX, kMostTimes = 1000000000,
                     kMostText = INT64_C(16) << 20;

enum replay_dtype { kFloat16, kBfloat16, kFloat32, kFloat64, kInt8, kUint8, kInt32, kInt64, kDtypes };
enum replay_reduction { kSum, kMax, kMin, kProd, kReductions };
enum replay_form { kAlways, kHealthy, kDiverging };
enum replay_op {
  kAllReduce,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kAllToAllv,
  kBarrier,
  kScan,
  kExscan,
  kCollectives, /* all before are collectives */
  kSend = kCollectives,
  kRecv,
  kOps,
  kWait = kOps,
  kPause,
  kRepeat,
  kEnd
};

struct replay_group {
  char name[kNameSize];
  int size;
  int* members; /* in the order of the ranks */
};

struct replay_statement {
  int line, op, form, is_mine, is_pending, group, dtype, reduction, peer, tag;
  int64_t count, times, pause_us;
  const char *ranks, *text; /* the text is without the ranks */
};

struct replay_program {
  int size, groups_made, made;
  struct replay_group* groups; /* the first is the world */
  struct replay_statement* statements;
};

/* The state of the parser: the current line and its words. */
struct replay_reader {
  int line, depth, open[kDeepest];
  char* rest;
  char is_in[kMostRanks];
};

static inline void replay_stop(int line, const char* format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
static inline void replay_stop(int line, const char* format, ...) {
  va_list values;
  va_start(values, format);
  fputs("replay: ", stderr);
  if (line) fprintf(stderr, "line %d: ", line);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  exit(kBadText);
}

static inline void* replay_grown(void* memory, size_t bytes) {
  void* grown = realloc(memory, bytes);
  if (!grown) replay_stop(0, "the memory does not suffice");
  return grown;
}

/* Returns the place of a rank among the members, or -1. */
static inline int replay_index(const struct replay_group* group, int rank) {
  for (int i = 0; i < group->size; ++i)
    if (group->members[i] == rank) return i;
  return -1;
}

static inline int replay_bytes_of(int dtype) {
  static const int kBytes[kDtypes] = {2, 2, 4, 8, 1, 1, 4, 8};
  return kBytes[dtype];
}

static inline const char* replay_op_name(int op) {
  static const char* const kNames[kOps] = {
      "all_reduce", "broadcast",   "reduce",  "gather", "scatter", "all_gather", "reduce_scatter",
      "all_to_all", "all_to_allv", "barrier", "scan",   "exscan",  "send",       "recv"};
  return kNames[op];
}

static inline int replay_is_reducing(int op) {
  return op == kAllReduce || op == kReduce || op == kReduceScatter || op == kScan || op == kExscan;
}

static inline int replay_is_rooted(int op) { return op >= kBroadcast && op <= kScatter; }

/* Returns the count, rounded up to what the members can share evenly. */
static inline int64_t replay_whole(const struct replay_statement* s, const struct replay_group* group) {
  return (s->count + group->size - 1) / group->size * group->size;
}

static inline char* replay_word(struct replay_reader* r, const char* what) {
  char* word = strtok_r(NULL, " ", &r->rest);
  if (!word && what) replay_stop(r->line, "%s is missing", what);
  return word;
}

static inline int64_t replay_number(const struct replay_reader* r, const char* word, int64_t most) {
  const size_t digits = strspn(word, "0123456789");
  const int64_t number = digits && digits <= 18 ? strtoll(word, NULL, 10) : -1;
  if (word[digits] || number < 0 || number > most)
    replay_stop(r->line, "'%.40s' is not a number from 0 to %lld", word, (long long)most);
  return number;
}

static inline int64_t replay_at_least_1(const struct replay_reader* r, int64_t number) {
  if (number < 1) replay_stop(r->line, "the number must be at least 1");
  return number;
}

/* Returns a duration such as 5ms or 1.5s in microseconds, or -1. */
static inline int64_t replay_duration(const char* word) {
  static const char* const kUnits[] = {"us", "ms", "s", "m"};
  static const double kMicroseconds[] = {1, 1e3, 1e6, 60e6};
  const size_t digits = strspn(word, "0123456789.");
  if (!digits || digits > 15 || word[0] == '.' || word[digits - 1] == '.') return -1;
  for (int i = 0; i < 4; ++i)
    if (strcmp(word + digits, kUnits[i]) == 0) {
      char* end;
      const double number = strtod(word, &end);
      return end == word + digits && number < 1e9 ? (int64_t)(number * kMicroseconds[i]) : -1;
    }
  return -1;
}

/* Marks the ranks of a word such as 0-3,6 in is_in, and counts them. */
static inline int replay_ranks(struct replay_reader* r, const char* word, int size, int marked) {
  char part[32];
  for (const char* at = word;; ++at) {
    const size_t length = strcspn(at, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    char* dash = strchr(part, '-');
    if (dash) *dash = '\0';
    const int64_t first = replay_number(r, part, size - 1);
    const int64_t last = dash ? replay_number(r, dash + 1, size - 1) : first;
    if (last < first) replay_stop(r->line, "the ranks %.40s have no order", word);
    for (int64_t rank = first; rank <= last; ++rank, ++marked)
      if (r->is_in[rank]++) replay_stop(r->line, "rank %d appears twice", (int)rank);
    at += length;
    if (!*at) return marked;
  }
}

static inline void replay_add_group(struct replay_program* p, const struct replay_reader* r, const char* name,
                                    int members) {
  p->groups = (struct replay_group*)replay_grown(p->groups, (size_t)(p->groups_made + 1) * sizeof *p->groups);
  struct replay_group* group = &p->groups[p->groups_made++];
  snprintf(group->name, sizeof group->name, "%s", name);
  group->size = 0;
  group->members = (int*)replay_grown(NULL, (size_t)members * sizeof(int));
  for (int rank = 0; rank < p->size; ++rank)
    if (r->is_in[rank]) group->members[group->size++] = rank;
}

static inline int replay_find_group(const struct replay_program* p, const char* name) {
  for (int g = 0; g < p->groups_made; ++g)
    if (strcmp(p->groups[g].name, name) == 0) return g;
  return -1;
}

#endif
