/* decoder_choice.c: selects the decoder of a library: the first whose probe resolves in the process. */
#include "harness/agent/agent.h"

const struct rf_decoder_choice rf_decoder_choices[] = {
    {RF_LIB_MPI, "ompi_mpi_comm_world", "openmpi.so"},
    /* MPICH by its own interface, and by that of MPI 5, whose library lacks the first name. Libraries of
     * others also have these names: the decoders check the version. */
    {RF_LIB_MPI, "MPIR_Dup_fn", "mpich.so"},
    {RF_LIB_MPI, "MPI_Abi_get_version", "mpi_standard.so"},
    /* PyTorch with the Gloo inside it or beside it (Debian). One decoder has both layers, so that it can
     * connect a c10d call with its execution: in such a process no other decoder records Gloo. */
    {RF_LIB_C10D, "_ZN4c10d16ProcessGroupGloo7nextTagEv", "torch_gloo.so"},
    {RF_LIB_GLOO, "_ZN4c10d16ProcessGroupGloo7nextTagEv", "torch_gloo.so"},
    /* Plain Gloo of 2022-05 (Debian): connectFullMesh(Store&, shared_ptr<Device>&) */
    {RF_LIB_GLOO,
     "_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE",
     "gloo_2022.so"},
    {RF_LIB_NCCL, "ncclGetVersion", "nccl.so"},
    {RF_LIB_CUDA, "ncclGetVersion", "nccl.so"}, /* the host waits that show NCCL's work complete */
#ifdef RF_TEST_DECODER                          /* the tests' agent knows only the tests' library */
    {RF_LIB_NCCL, "fake_library_probe", "fake.so"},
#endif
    {RF_LIB_NONE, 0, 0}};
