/* check.h: before each step, the members of a group made as many collectives, and the same one is next. */
#ifndef RANKFAULT_WORKLOADS_REPLAY_CHECK_H
#define RANKFAULT_WORKLOADS_REPLAY_CHECK_H

#include "state.h"

/* Returns the first statement with the same text: its line stands for the text. */
static inline int64_t replay_line_of_text(const struct replay_program* p, const struct replay_statement* s) {
  const struct replay_statement* first = p->statements;
  while (first->op >= kWait || strcmp(first->text, s->text) != 0) ++first;
  return first->line;
}

/* Gives two numbers of each group to the check: the collectives that this rank made, and the next one. */
static inline void replay_check(struct replay_run* run, int position) {
  const struct replay_program* p = &run->program;
  if (!run->wants_check) return;
  int64_t* mine = (int64_t*)replay_grown(NULL, (size_t)p->groups_made * 2 * sizeof *mine);
  for (int g = 0; g < p->groups_made; ++g) {
    mine[2 * g] = run->made[g];
    mine[2 * g + 1] = 0;
  }
  for (int i = p->made - 1; i >= position; --i)
    if (p->statements[i].is_mine && p->statements[i].op < kCollectives)
      mine[2 * p->statements[i].group + 1] = i + 1;
  for (int g = 0; g < p->groups_made; ++g)
    if (mine[2 * g + 1]) mine[2 * g + 1] = replay_line_of_text(p, &p->statements[mine[2 * g + 1] - 1]);
  ++run->checks;
  run->check(mine);
  free(mine);
}

static inline const char* replay_said(const struct replay_program* p, int field, int64_t number, char* words,
                                      size_t size) {
  if (field == 0) {
    snprintf(words, size, "%lld calls", (long long)number);
    return words;
  }
  for (int i = 0; i < p->made; ++i)
    if (p->statements[i].line == number) return p->statements[i].text;
  return "nothing";
}

/* Compares what all ranks gave, one row for each rank. Returns 0 after a message if the members of a group
 * differ. */
static inline int replay_compare(const struct replay_run* run, const int64_t* all) {
  const struct replay_program* p = &run->program;
  for (int place = 0; place < 2 * p->groups_made; ++place) {
    const struct replay_group* group = &p->groups[place / 2];
    int64_t usual = 0, other = 0;
    int most = 0, has_other = 0;
    for (int i = 0; i < group->size && most <= group->size / 2; ++i) {
      int same = 0;
      const int64_t said = all[2 * p->groups_made * group->members[i] + place];
      for (int k = 0; k < group->size; ++k)
        same += all[2 * p->groups_made * group->members[k] + place] == said;
      if (same > most) {
        most = same;
        usual = said;
      }
    }
    if (most == group->size) continue;
    char first[32], second[32];
    fputs("defence step-check: ranks ", stderr);
    for (int i = 0; i < group->size; ++i) {
      const int64_t said = all[2 * p->groups_made * group->members[i] + place];
      if (said == usual || (has_other && said != other)) continue;
      fprintf(stderr, "%s%d", has_other ? "," : "", group->members[i]);
      other = said;
      has_other = 1;
    }
    fprintf(stderr, " %s %s on %s, the others %s\n", place % 2 ? "make next:" : "made",
            replay_said(p, place % 2, other, first, sizeof first), group->name,
            replay_said(p, place % 2, usual, second, sizeof second));
    return 0;
  }
  return 1;
}

#endif
