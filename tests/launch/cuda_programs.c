/* Programs that use CUDA in ways that the double does not support. The tests read them and never run them. */
#ifdef RUNTIME
int cudaOfTheFuture(void);
int cudaOfTheFuture(void) { return 0; }
#elif defined(OTHER)
int cudaOfThePast(void);
int cudaOfThePast(void) { return 0; }
#elif defined(STATIC)
/* every build of the runtime contains this: its table of error names */
static const char* const names[] = {"cudaSuccess", "cudaErrorInvalidDeviceFunction"};
int main(int argc, char** argv) {
  (void)argv;
  return names[argc & 1][0];
}
#elif defined(INSIDE)
int cudaMalloc(void** at, unsigned long size);
int cudaMalloc(void** at, unsigned long size) { return *at != 0 && size != 0; }
int main(int argc, char** argv) { return cudaMalloc((void**)argv, (unsigned long)argc); }
#else
int cudaOfTheFuture(void);
int main(void) { return cudaOfTheFuture(); }
#endif
