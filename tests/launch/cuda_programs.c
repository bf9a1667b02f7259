/* Programs that ask for CUDA in ways of which there is no double; they are looked at and never run. */
#ifdef RUNTIME
int cudaOfTheFuture(void);
int cudaOfTheFuture(void) { return 0; }
#elif defined(OTHER)
int cudaOfThePast(void);
int cudaOfThePast(void) { return 0; }
#elif defined(STATIC)
/* what every build of the runtime has: its table of error names */
static const char* const names[] = {"cudaSuccess", "cudaErrorInvalidDeviceFunction"};
int main(int argc, char** argv) {
  (void)argv;
  return names[argc & 1][0];
}
#else
int cudaOfTheFuture(void);
int main(void) { return cudaOfTheFuture(); }
#endif
