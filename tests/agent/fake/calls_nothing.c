/* calls_nothing: the libraries that it is linked with start and end; it calls none. */
int main(void) { return 0; }
