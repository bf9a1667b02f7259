/* glob.h: matches patterns like fnmatch(3) without flags: * ? [a-z] [!a-z] \x; no allocation. */
#ifndef RANKFAULT_AGENT_GLOB_H
#define RANKFAULT_AGENT_GLOB_H

/* Matches one bracket expression at `p` (after the '['); *end is set after its ']', or to null. */
static inline int rf_glob_set(const char* p, char c, const char** end) {
  const int negated = *p == '!' || *p == '^';
  int found = 0;
  if (negated) ++p;
  for (int first = 1; *p && (first || *p != ']'); ++p, first = 0) {
    if (p[1] == '-' && p[2] && p[2] != ']') {
      found |= c >= p[0] && c <= p[2];
      p += 2;
    } else {
      found |= *p == c;
    }
  }
  *end = *p == ']' ? p + 1 : (const char*)0;
  return found != negated;
}

/* Greedy with one point of return: a later star makes the choice of an earlier one irrelevant. */
static inline int rf_glob(const char* pattern, const char* text) {
  const char *star = (const char*)0, *resume = text;
  while (*text) {
    const char* end;
    if (*pattern == '*') {
      star = ++pattern;
      resume = text;
      continue;
    }
    if (*pattern == '?') {
      ++pattern, ++text;
      continue;
    }
    if (*pattern == '[') {
      const int in = rf_glob_set(pattern + 1, *text, &end);
      if (end ? in : *text == '[') {
        pattern = end ? end : pattern + 1;
        ++text;
        continue;
      }
    } else if (*pattern) {
      const char* literal = *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;
      if (*literal == *text) {
        pattern = literal + 1;
        ++text;
        continue;
      }
    }
    if (!star) return 0;
    pattern = star;
    text = ++resume;
  }
  while (*pattern == '*') ++pattern;
  return !*pattern;
}

#endif /* RANKFAULT_AGENT_GLOB_H */
