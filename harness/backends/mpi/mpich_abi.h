/* mpich_abi.h: the few types and numbers of MPICH's binary interface (libmpi.so.12) that the decoder reads.
 *
 * Handles are 32-bit numbers, also the predefined ones, and the bits of a handle show a request that was
 * complete at creation. A test compiles this file together with each of MPICH's mpi.h that it finds. */
#ifndef RANKFAULT_MPICH_ABI_H
#define RANKFAULT_MPICH_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Message;
typedef int MPI_Op;
typedef int MPI_Request;

struct rf_mpi_status { /* MPI_Status */
  int count_low;
  int count_high_and_cancelled;
  int source;
  int tag;
  int error;
};

enum {
  RF_MPI_SUCCESS = 0,
  RF_MPI_ERR_OTHER = 15,
  RF_MPI_ERR_IN_STATUS = 17,
  RF_MPI_ERR_PENDING = 18,
  RF_MPI_ANY_SOURCE = -2,
  RF_MPI_ANY_TAG = -1,
  RF_MPI_PROC_NULL = -1,
  RF_MPI_ROOT = -3,
  RF_MPI_UNDEFINED = -32766,
  RF_MPI_THREAD_MULTIPLE = 3,
  RF_MPI_CART = 2,
  RF_MPI_GRAPH = 1,
  RF_MPI_DIST_GRAPH = 3,
  RF_MPI_MAX_LIBRARY_VERSION = 8192
};
#define RF_MPI_IN_PLACE ((const void*)-1)
#define RF_MPI_STATUS_IGNORE ((struct rf_mpi_status*)1)

#define RF_MPI_DECODER "mpich"
#define RF_MPI_RANK "PMI_RANK"
#define RF_MPI_SIZE "PMI_SIZE"
#define RF_HANDLE_BITS(handle) ((uint64_t)(uint32_t)(handle))

enum {
  RF_MPI_COMM_NULL = 0x04000000,
  RF_MPI_COMM_WORLD = 0x44000000,
  RF_MPI_COMM_SELF = 0x44000001,
  RF_MPI_REQUEST_NULL = 0x2c000000,
  RF_MPI_MESSAGE_NO_PROC = 0x6c000000,
  RF_MPI_DATATYPE_NULL = 0x0c000000
};

typedef intptr_t rf_predefined;
#define RF_PREDEFINED_TYPE(object, name) RF_MPI_TYPE_##name
#define RF_PREDEFINED_OP(object, name) RF_MPI_OP_##name
enum {
  RF_MPI_TYPE_BYTE = 0x4c00010d,
  RF_MPI_TYPE_INT8_T = 0x4c000137,
  RF_MPI_TYPE_CHAR = 0x4c000101,
  RF_MPI_TYPE_SIGNED_CHAR = 0x4c000118,
  RF_MPI_TYPE_UINT8_T = 0x4c00013b,
  RF_MPI_TYPE_UNSIGNED_CHAR = 0x4c000102,
  RF_MPI_TYPE_CHARACTER = 0x4c00011a,
  RF_MPI_TYPE_INTEGER1 = 0x4c00012d,
  RF_MPI_TYPE_INT16_T = 0x4c000238,
  RF_MPI_TYPE_SHORT = 0x4c000203,
  RF_MPI_TYPE_INTEGER2 = 0x4c00022f,
  RF_MPI_TYPE_UINT16_T = 0x4c00023c,
  RF_MPI_TYPE_UNSIGNED_SHORT = 0x4c000204,
  RF_MPI_TYPE_INT32_T = 0x4c000439,
  RF_MPI_TYPE_INT = 0x4c000405,
  RF_MPI_TYPE_INTEGER = 0x4c00041b,
  RF_MPI_TYPE_INTEGER4 = 0x4c000430,
  RF_MPI_TYPE_UINT32_T = 0x4c00043d,
  RF_MPI_TYPE_UNSIGNED = 0x4c000406,
  RF_MPI_TYPE_INT64_T = 0x4c00083a,
  RF_MPI_TYPE_LONG = 0x4c000807,
  RF_MPI_TYPE_LONG_LONG_INT = 0x4c000809,
  RF_MPI_TYPE_INTEGER8 = 0x4c000831,
  RF_MPI_TYPE_AINT = 0x4c000843,
  RF_MPI_TYPE_OFFSET = 0x4c000844,
  RF_MPI_TYPE_COUNT = 0x4c000845,
  RF_MPI_TYPE_UINT64_T = 0x4c00083e,
  RF_MPI_TYPE_UNSIGNED_LONG = 0x4c000808,
  RF_MPI_TYPE_UNSIGNED_LONG_LONG = 0x4c000819,
  RF_MPI_TYPE_FLOAT = 0x4c00040a,
  RF_MPI_TYPE_REAL = 0x4c00041c,
  RF_MPI_TYPE_REAL4 = 0x4c000427,
  RF_MPI_TYPE_DOUBLE = 0x4c00080b,
  RF_MPI_TYPE_DOUBLE_PRECISION = 0x4c00081f,
  RF_MPI_TYPE_REAL8 = 0x4c000829,
  RF_MPI_TYPE_C_FLOAT_COMPLEX = 0x4c000840,
  RF_MPI_TYPE_COMPLEX = 0x4c00081e,
  RF_MPI_TYPE_COMPLEX8 = 0x4c000828,
  RF_MPI_TYPE_C_DOUBLE_COMPLEX = 0x4c001041,
  RF_MPI_TYPE_DOUBLE_COMPLEX = 0x4c001022,
  RF_MPI_TYPE_COMPLEX16 = 0x4c00102a,
  RF_MPI_TYPE_C_BOOL = 0x4c00013f,
  RF_MPI_TYPE_CXX_BOOL = 0x4c000133
};
enum {
  RF_MPI_OP_SUM = 0x58000003,
  RF_MPI_OP_PROD = 0x58000004,
  RF_MPI_OP_MIN = 0x58000002,
  RF_MPI_OP_MAX = 0x58000001,
  RF_MPI_OP_LAND = 0x58000005,
  RF_MPI_OP_LOR = 0x58000007,
  RF_MPI_OP_BAND = 0x58000006,
  RF_MPI_OP_BOR = 0x58000008,
  RF_MPI_OP_BXOR = 0x5800000a
};

#endif /* RANKFAULT_MPICH_ABI_H */
