/* library.c: stands in for an MPI library that has two functions and lacks all others. */
int MPI_Barrier(void);
int MPI_Get_version(int* version, int* subversion);

int MPI_Barrier(void) { return 41; }
int MPI_Get_version(int* version, int* subversion) {
  *version = 9;
  *subversion = 1;
  return 0;
}
