/* decoder_choice.c: which decoder serves a library: the first whose probe resolves in the process. */
#include "harness/agent/agent.h"

const struct rf_decoder_choice rf_decoder_choices[] = {
    {RF_LIB_MPI, "ompi_mpi_comm_world", "openmpi.so"},
    /* MPICH by its own interface, and by MPI 5's, whose library lacks the first name. Others' libraries have
     * these names too: the decoders ask for the version. */
    {RF_LIB_MPI, "MPIR_Dup_fn", "mpich.so"},
    {RF_LIB_MPI, "MPI_Abi_get_version", "mpi_standard.so"},
    /* Gloo of 2022-05 (Debian): connectFullMesh(Store&, shared_ptr<Device>&) */
    {RF_LIB_GLOO,
     "_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE",
     "gloo_2022.so"},
    /* Gloo inside PyTorch 2.x: connectFullMesh(shared_ptr<Store>, shared_ptr<Device>&). One decoder has
     * both layers, so that a c10d call finds its execution. */
    {RF_LIB_C10D,
     "_ZN4gloo10rendezvous7Context15connectFullMeshESt10shared_ptrINS0_5StoreEERS2_INS_9transport6DeviceEE",
     "torch_gloo.so"},
    {RF_LIB_GLOO,
     "_ZN4gloo10rendezvous7Context15connectFullMeshESt10shared_ptrINS0_5StoreEERS2_INS_9transport6DeviceEE",
     "torch_gloo.so"},
    {RF_LIB_NCCL, "ncclGetVersion", "nccl.so"},
    {RF_LIB_CUDA, "ncclGetVersion", "nccl.so"}, /* the host waits by which NCCL's work is seen complete */
#ifdef RF_TEST_DECODER                          /* the tests' agent knows no library but theirs */
    {RF_LIB_NCCL, "fake_library_probe", "fake.so"},
#endif
    {RF_LIB_NONE, 0, 0}};
