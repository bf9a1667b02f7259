/* run.h: performs a program: its options, its loops and its steps. */
#ifndef RANKFAULT_WORKLOADS_REPLAY_RUN_H
#define RANKFAULT_WORKLOADS_REPLAY_RUN_H

#include "check.h"

static inline void replay_begin_step(struct replay_run* run, int position) {
  replay_check(run, position);
  printf("rank %d begins step %d\n", run->rank, ++run->step);
  fflush(stdout);
}

static inline void replay_commit_step(const struct replay_run* run) {
  printf("rank %d committed step %d\n", run->rank, run->step);
  fflush(stdout);
}

static inline void replay_perform(struct replay_run* run) {
  const struct replay_program* p = &run->program;
  int depth = 0, begin[kDeepest];
  int64_t left[kDeepest];
  for (int i = 0; i < p->made; ++i) {
    const struct replay_statement* s = &p->statements[i];
    if (s->op == kRepeat) {
      begin[depth] = i;
      left[depth++] = s->times;
      if (depth == 1) replay_begin_step(run, i);
    } else if (s->op == kEnd) {
      if (depth == 1) replay_commit_step(run);
      if (--left[depth - 1] == 0) {
        --depth;
        continue;
      }
      i = begin[depth - 1];
      if (depth == 1) replay_begin_step(run, i);
    } else if (s->is_mine && s->op == kPause) {
      replay_doze(s->pause_us);
    } else if (s->is_mine) {
      if (s->op < kCollectives) ++run->made[s->group];
      run->perform(s);
    }
  }
}

static inline char* replay_text(const char* file) {
  const char* said = getenv("REPLAY");
  char* text = said ? strdup(said) : (char*)replay_grown(NULL, (size_t)kMostText + 1);
  if (!text) replay_stop(0, "the memory does not suffice");
  if (said) return text;
  if (!file) replay_stop(0, "the job has no text: set REPLAY or name a file");
  FILE* in = fopen(file, "rb");
  if (!in) replay_stop(0, "the file %s cannot be read", file);
  const size_t size = fread(text, 1, (size_t)kMostText + 1, in);
  fclose(in);
  if ((int64_t)size > kMostText) replay_stop(0, "a text has at most 16 MiB");
  text[size] = '\0';
  if (strlen(text) != size) replay_stop(0, "the text has a byte 0");
  return text;
}

/* Reads the options and the text. */
static inline struct replay_run replay_begin(int argc, char** argv) {
  struct replay_run run;
  memset(&run, 0, sizeof run);
  run.store = "";
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* the lines of the ranks do not mix */
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "--steps-check") == 0) {
      run.wants_check = 1;
    } else if (strcmp(argv[i], "--diverge") == 0) {
      run.diverges = 1;
    } else if (strncmp(argv[i], "--store=", 8) == 0) {
      run.store = argv[i] + 8;
    } else if (strncmp(argv[i], "--limit=", 8) == 0) {
      run.limit = (double)replay_duration(argv[i] + 8) / 1e6;
      if (run.limit <= 0) replay_stop(0, "'%.40s' is not a time such as 10s", argv[i] + 8);
    } else if (argv[i][0] != '-' && !run.file) {
      run.file = argv[i];
    } else {
      replay_stop(0, "the option %.40s is not known", argv[i]);
    }
  run.program = replay_parse(replay_text(run.file));
  run.made = (int64_t*)replay_grown(NULL, (size_t)run.program.groups_made * sizeof *run.made);
  memset(run.made, 0, (size_t)run.program.groups_made * sizeof *run.made);
  return run;
}

/* Gives the text its rank. Returns 0 after a message if the job has another size. */
static inline int replay_meet(struct replay_run* run, int rank, int ranks) {
  run->rank = rank;
  if (ranks != run->program.size) {
    if (rank == 0)
      fprintf(stderr, "replay: line 1: the text is for %d ranks, and this job has %d\n", run->program.size,
              ranks);
    return 0;
  }
  replay_bind(&run->program, rank, run->diverges);
  return 1;
}

#endif
