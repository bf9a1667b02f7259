/* plugin.c: a plugin as language bindings load it: it calls functions that MPI has, and checks by a weak
 * reference whether a newer function exists. With -DNEEDS_A_MISSING_NAME it also calls a function that no
 * library has. */
int MPI_Barrier(void);
#pragma weak MPI_Abi_get_version
int MPI_Abi_get_version(int* major, int* minor);
int MPI_Comm_dup(void);
int plugin(void);
void* barrier(void);

void* barrier(void) { return (void*)MPI_Barrier; } /* NOLINT: as the loader bound it */

int plugin(void) {
  int major = 0, minor = 0;
  if (MPI_Abi_get_version) return MPI_Abi_get_version(&major, &minor) + 100;
#ifdef NEEDS_A_MISSING_NAME
  return MPI_Comm_dup();
#else
  return MPI_Barrier();
#endif
}
