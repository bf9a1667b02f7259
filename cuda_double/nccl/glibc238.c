// glibc238.c: defines, for an older glibc, five functions that objects compiled against glibc 2.38 need.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

long __isoc23_strtol(const char* text, char** end, int base);
long long __isoc23_strtoll(const char* text, char** end, int base);
unsigned long long __isoc23_strtoull(const char* text, char** end, int base);
int __isoc23_sscanf(const char* text, const char* format, ...);
int __isoc23_fscanf(FILE* file, const char* format, ...);

long __isoc23_strtol(const char* text, char** end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char* text, char** end, int base) { return strtoll(text, end, base); }
unsigned long long __isoc23_strtoull(const char* text, char** end, int base) {
  return strtoull(text, end, base);
}
int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list words;
  va_start(words, format);
  int count = vsscanf(text, format, words);
  va_end(words);
  return count;
}
int __isoc23_fscanf(FILE* file, const char* format, ...) {
  va_list words;
  va_start(words, format);
  int count = vfscanf(file, format, words);
  va_end(words);
  return count;
}
