/* parse.h: makes a program of a text, or stops with the number of the wrong line. */
#ifndef RANKFAULT_WORKLOADS_REPLAY_PARSE_H
#define RANKFAULT_WORKLOADS_REPLAY_PARSE_H

#include "program.h"

struct replay_name {
  const char* name;
  int value;
};

static inline int replay_find(const struct replay_name* names, const char* word) {
  for (; names->name; ++names)
    if (strcmp(names->name, word) == 0) return names->value;
  return -1;
}

static inline int replay_dtype_of(const char* word) {
  static const struct replay_name kNames[] = {
      {"float16", kFloat16}, {"bfloat16", kBfloat16}, {"float32", kFloat32},
      {"float64", kFloat64}, {"int8", kInt8},         {"uint8", kUint8},
      {"int32", kInt32},     {"int64", kInt64},       {"byte", kUint8},
      {"bool", kUint8},      {"float8_e4m3", kUint8}, {"float8_e5m2", kUint8},
      {"int16", kFloat16},   {"uint16", kFloat16},    {"uint32", kInt32},
      {"uint64", kInt64},    {"complex64", kFloat64}, {NULL, 0}};
  return replay_find(kNames, word);
}

/* Another reduction with as many bytes stands for those that not every library has. */
static inline int replay_reduction_of(const char* word) {
  static const struct replay_name kNames[] = {{"sum", kSum}, {"max", kMax},  {"min", kMin},   {"prod", kProd},
                                              {"avg", kSum}, {"bxor", kSum}, {"other", kSum}, {"lor", kMax},
                                              {"bor", kMax}, {"land", kMin}, {"band", kMin},  {NULL, 0}};
  return replay_find(kNames, word);
}

static inline void replay_read_group(struct replay_program* p, struct replay_reader* r) {
  static const char* const kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  const char *name = replay_word(r, "a name"), *word = replay_word(r, "a rank");
  int members = 0;
  if (strlen(name) >= kNameSize || name[strspn(name, kLetters)])
    replay_stop(r->line, "a name has at most %d letters, digits, '_', '.' or '-'", kNameSize - 1);
  if (p->groups_made == kMostGroups) replay_stop(r->line, "a text has at most %d groups", kMostGroups);
  if (replay_find_group(p, name) >= 0) replay_stop(r->line, "the group %s exists already", name);
  for (; word; word = replay_word(r, NULL)) members = replay_ranks(r, word, p->size, members);
  replay_add_group(p, r, name, members);
}

static inline void replay_check_ranks(const struct replay_program* p, const struct replay_reader* r,
                                      const struct replay_statement* s) {
  const struct replay_group* group = &p->groups[s->group];
  int found = 0, ranks = 0;
  for (int rank = 0; rank < p->size; ++rank) ranks += r->is_in[rank];
  for (int i = 0; i < group->size; ++i) found += r->is_in[group->members[i]];
  if (found < ranks) replay_stop(r->line, "a rank of this line is not in the group %s", group->name);
  if (!replay_is_rooted(s->op) && s->op < kSend) return;
  if (replay_index(group, s->peer) < 0)
    replay_stop(r->line, "rank %d is not in the group %s", s->peer, group->name);
  if (s->op >= kSend && r->is_in[s->peer])
    replay_stop(r->line, "rank %d exchanges a message with itself", s->peer);
}

static inline void replay_read_call(const struct replay_program* p, struct replay_reader* r,
                                    struct replay_statement* s) {
  const char* word = replay_word(r, "a group");
  s->group = replay_find_group(p, word);
  if (s->group < 0) replay_stop(r->line, "no line makes a group '%.40s'", word);
  const int64_t members = p->groups[s->group].size;
  if (s->op != kBarrier) {
    word = replay_word(r, "a type");
    s->dtype = replay_dtype_of(word);
    if (s->dtype < 0) replay_stop(r->line, "'%.40s' is not a type", word);
    s->count = replay_number(r, replay_word(r, "a count"), kMostBytes);
    const int has_parts = s->op == kGather || s->op == kScatter || s->op == kAllGather;
    if ((s->count * (has_parts ? members : 1) + members) * replay_bytes_of(s->dtype) > kMostBytes)
      replay_stop(r->line, "a buffer has at most 1 GiB");
  }
  const char* role = s->op == kSend ? "to" : s->op == kRecv ? "from" : replay_is_rooted(s->op) ? "root" : "";
  int has_peer = !*role, has_tag = s->op < kSend, has_reduction = !replay_is_reducing(s->op);
  while ((word = replay_word(r, NULL))) {
    if (!has_reduction && replay_reduction_of(word) >= 0) {
      s->reduction = replay_reduction_of(word);
      has_reduction = 1;
    } else if (!has_peer && strcmp(word, role) == 0) {
      s->peer = (int)replay_number(r, replay_word(r, "a rank"), p->size - 1);
      has_peer = has_reduction = 1;
    } else if (!has_tag && has_peer && strcmp(word, "tag") == 0) {
      s->tag = (int)replay_number(r, replay_word(r, "a tag"), kMostTag);
      has_tag = 1;
    } else {
      replay_stop(r->line, "'%.40s' has no place here", word);
    }
  }
  if (!has_peer) replay_stop(r->line, "'%s' and a rank are missing", role);
  replay_check_ranks(p, r, s);
}

static inline void replay_read_statement(const struct replay_program* p, struct replay_reader* r, char* first,
                                         struct replay_statement* s) {
  char* word;
  if (strcmp(first, "healthy") == 0 || strcmp(first, "diverging") == 0) {
    s->form = first[0] == 'h' ? kHealthy : kDiverging;
    s->ranks = s->text;
    s->text += strcspn(s->text, " ");
    s->text += *s->text == ' ';
    first = replay_word(r, "a rank");
  }
  if (s->form == kAlways && strcmp(first, "repeat") == 0) {
    s->op = kRepeat;
    s->times = replay_at_least_1(r, replay_number(r, replay_word(r, "a number"), kMostTimes));
    if (r->depth == kDeepest) replay_stop(r->line, "repeats nest deeper than %d", kDeepest);
    r->open[r->depth++] = r->line;
  } else if (s->form == kAlways && strcmp(first, "end") == 0) {
    s->op = kEnd;
    if (!r->depth--) replay_stop(r->line, "this end has no repeat");
  } else {
    replay_ranks(r, first, p->size, 0);
    word = replay_word(r, "an operation");
    const size_t length = strlen(word);
    char* const suffix = length > 6 ? word + length - 6 : word;
    if (strcmp(word, "wait") == 0) {
      s->op = kWait;
    } else if (strcmp(word, "pause") == 0) {
      s->op = kPause;
      word = replay_word(r, "a time");
      s->pause_us = replay_duration(word);
      if (s->pause_us < 0) replay_stop(r->line, "'%.40s' is not a time such as 5ms", word);
    } else {
      const int is_async = strcmp(suffix, "_async") == 0;
      const int is_message = strcmp(word, "isend") == 0 || strcmp(word, "irecv") == 0;
      if (is_async) *suffix = '\0';
      for (s->op = 0; s->op < kOps; ++s->op)
        if (strcmp(word + is_message, replay_op_name(s->op)) == 0) break;
      if (s->op == kOps || (is_async && s->op >= kSend))
        replay_stop(r->line, "'%.40s%s' is not an operation", word, is_async ? "_async" : "");
      s->is_pending = is_async || is_message;
      replay_read_call(p, r, s);
    }
  }
  if ((word = replay_word(r, NULL))) replay_stop(r->line, "'%.40s' has no place here", word);
}

/* Cuts the comment off, and leaves one space between the words. */
static inline void replay_tidy(char* line) {
  char* to = line;
  for (const char* from = line; *from && *from != '#'; ++from) {
    const int is_space = strchr(" \t\r\v\f", *from) != NULL;
    if (!is_space)
      *to++ = *from;
    else if (to > line && to[-1] != ' ')
      *to++ = ' ';
  }
  if (to > line && to[-1] == ' ') --to;
  *to = '\0';
}

static inline void replay_read_line(struct replay_program* p, struct replay_reader* r, const char* line) {
  char *words = strdup(line), *first = words ? strtok_r(words, " ", &r->rest) : NULL;
  if (!words) replay_stop(r->line, "the memory does not suffice");
  if (!first) {
    free(words);
    return;
  }
  memset(r->is_in, 0, sizeof r->is_in);
  if ((strcmp(first, "ranks") == 0) == (p->size > 0))
    replay_stop(r->line, p->size ? "'ranks' appears twice" : "the text must begin with 'ranks N'");
  if (!p->size) {
    p->size = (int)replay_at_least_1(r, replay_number(r, replay_word(r, "a number"), kMostRanks));
    memset(r->is_in, 1, (size_t)p->size);
    replay_add_group(p, r, "world", p->size);
    if (replay_word(r, NULL)) replay_stop(r->line, "'ranks' takes one number");
  } else if (strcmp(first, "group") == 0) {
    replay_read_group(p, r);
  } else {
    if ((p->made & (p->made - 1)) == 0) /* room for twice as many */
      p->statements = (struct replay_statement*)replay_grown(
          p->statements, (size_t)(p->made ? 2 * p->made : 1) * sizeof *p->statements);
    struct replay_statement* s = &p->statements[p->made++];
    memset(s, 0, sizeof *s);
    s->line = r->line;
    s->ranks = line;
    s->text = line + strcspn(line, " ");
    s->text += *s->text == ' ';
    replay_read_statement(p, r, first, s);
  }
  free(words);
}

/* The program keeps the text. */
static inline struct replay_program replay_parse(char* text) {
  struct replay_program p;
  struct replay_reader r;
  memset(&p, 0, sizeof p);
  memset(&r, 0, sizeof r);
  for (char* next = text; next;) {
    char* line = strsep(&next, "\n");
    ++r.line;
    replay_tidy(line);
    replay_read_line(&p, &r, line);
  }
  if (!p.size) replay_stop(1, "the text must begin with 'ranks N'");
  if (r.depth) replay_stop(r.open[r.depth - 1], "this repeat has no end");
  return p;
}

static inline int replay_names_rank(const char* ranks, long rank) {
  for (char* end;; ranks = end + 1) {
    const long first = strtol(ranks, &end, 10);
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    if (rank >= first && rank <= last) return 1;
    if (*end != ',') return 0;
  }
}

/* Finds the statements of one rank in one form of the text. */
static inline void replay_bind(struct replay_program* p, int rank, int diverges) {
  for (int i = 0; i < p->made; ++i) {
    struct replay_statement* s = &p->statements[i];
    const int is_left_out = s->form == (diverges ? kHealthy : kDiverging);
    if (s->op < kRepeat) s->is_mine = !is_left_out && replay_names_rank(s->ranks, rank);
  }
}

#endif
