/* openmpi_abi.h: the few types and numbers of Open MPI's binary interface that the decoder reads.
 *
 * They are written here, not taken from mpi.h, so that one object serves Open MPI 4 and 5 and builds where
 * another MPI, or none, is installed. Handles are pointers to objects in both. A test compiles this file
 * together with each mpi.h that it finds and compares every number. */
#ifndef RANKFAULT_OPENMPI_ABI_H
#define RANKFAULT_OPENMPI_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct ompi_communicator_t* MPI_Comm;
typedef struct ompi_datatype_t* MPI_Datatype;
typedef struct ompi_group_t* MPI_Group;
typedef struct ompi_info_t* MPI_Info;
typedef struct ompi_message_t* MPI_Message;
typedef struct ompi_op_t* MPI_Op;
typedef struct ompi_request_t* MPI_Request;

struct rf_mpi_status { /* MPI_Status */
  int source;
  int tag;
  int error;
  int cancelled;
  size_t bytes;
};

enum {
  RF_MPI_SUCCESS = 0,
  RF_MPI_ERR_OTHER = 16,
  RF_MPI_ERR_IN_STATUS = 18,
  RF_MPI_ERR_PENDING = 19,
  RF_MPI_ANY_SOURCE = -1,
  RF_MPI_ANY_TAG = -1,
  RF_MPI_PROC_NULL = -2,
  RF_MPI_ROOT = -4,
  RF_MPI_UNDEFINED = -32766,
  RF_MPI_THREAD_MULTIPLE = 3,
  RF_MPI_CART = 1,
  RF_MPI_GRAPH = 2,
  RF_MPI_DIST_GRAPH = 3,
  RF_MPI_MAX_LIBRARY_VERSION = 256
};
#define RF_MPI_IN_PLACE ((const void*)1)
#define RF_MPI_STATUS_IGNORE ((struct rf_mpi_status*)0)

#define RF_MPI_DECODER "openmpi"
#define RF_MPI_RANK "OMPI_COMM_WORLD_RANK"
#define RF_MPI_SIZE "OMPI_COMM_WORLD_SIZE"
#define RF_HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))

/* Predefined handles are addresses of objects, found by symbol. */
typedef const char* rf_predefined;
#define RF_PREDEFINED_TYPE(object, name) "ompi_mpi_" #object
#define RF_PREDEFINED_OP(object, name) "ompi_mpi_op_" #object

/* Fortran handles are numbers; these functions convert them to C handles and back. */
#define RF_MPI_FROM_NUMBER(kind) "PMPI_" kind "_f2c"
#define RF_MPI_TO_NUMBER(kind) "PMPI_" kind "_c2f"

#endif /* RANKFAULT_OPENMPI_ABI_H */
