/* plain_overflow: with the word "overflow", writes one byte behind an allocation, for a sanitizer to find. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  volatile char* bytes = malloc(8);
  const int overflow = argc > 1 && strcmp(argv[1], "overflow") == 0;
  printf("before\n");
  fflush(stdout);
  bytes[overflow ? 8 : 0] = 1;
  free((void*)bytes);
  printf("after\n");
  return 0;
}
