/* standard_abi.h: the few types and numbers of MPI 5's own binary interface (libmpi_abi.so.1) that the
 * decoder reads. Handles are pointers; the predefined ones have fixed values. Of the libraries with this
 * interface, the decoder knows MPICH 5. A test compiles this file together with each mpi_abi.h that it
 * finds. */
#ifndef RANKFAULT_STANDARD_ABI_H
#define RANKFAULT_STANDARD_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;

struct rf_mpi_status { /* MPI_Status */
  int source;
  int tag;
  int error;
  int internal[5];
};

enum {
  RF_MPI_SUCCESS = 0,
  RF_MPI_ERR_OTHER = 16,
  RF_MPI_ERR_IN_STATUS = 19,
  RF_MPI_ERR_PENDING = 18,
  RF_MPI_ANY_SOURCE = -1,
  RF_MPI_ANY_TAG = -2,
  RF_MPI_PROC_NULL = -3,
  RF_MPI_ROOT = -4,
  RF_MPI_UNDEFINED = -32766,
  RF_MPI_THREAD_MULTIPLE = 4096,
  RF_MPI_CART = 211,
  RF_MPI_GRAPH = 212,
  RF_MPI_DIST_GRAPH = 213,
  RF_MPI_MAX_LIBRARY_VERSION = 8192
};
#define RF_MPI_IN_PLACE ((const void*)1)
#define RF_MPI_STATUS_IGNORE ((struct rf_mpi_status*)0)

#define RF_MPI_DECODER "mpi_standard"
#define RF_MPI_RANK "PMI_RANK"
#define RF_MPI_SIZE "PMI_SIZE"
#define RF_HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))

enum {
  RF_MPI_COMM_NULL = 0x100,
  RF_MPI_COMM_WORLD = 0x101,
  RF_MPI_COMM_SELF = 0x102,
  RF_MPI_REQUEST_NULL = 0x180,
  RF_MPI_MESSAGE_NO_PROC = 0x129,
  RF_MPI_DATATYPE_NULL = 0x200
};

/* Conversions between handles and Fortran's numbers (MPI 5.0, 20.3). */
#define RF_MPI_FROM_NUMBER(kind) "PMPI_" kind "_fromint"
#define RF_MPI_TO_NUMBER(kind) "PMPI_" kind "_toint"

typedef intptr_t rf_predefined;
#define RF_PREDEFINED_TYPE(object, name) RF_MPI_TYPE_##name
#define RF_PREDEFINED_OP(object, name) RF_MPI_OP_##name
enum {
  RF_MPI_TYPE_BYTE = 0x247,
  RF_MPI_TYPE_INT8_T = 0x240,
  RF_MPI_TYPE_CHAR = 0x243,
  RF_MPI_TYPE_SIGNED_CHAR = 0x244,
  RF_MPI_TYPE_UINT8_T = 0x241,
  RF_MPI_TYPE_UNSIGNED_CHAR = 0x245,
  RF_MPI_TYPE_CHARACTER = 0x21e,
  RF_MPI_TYPE_INTEGER1 = 0x2c1,
  RF_MPI_TYPE_INT16_T = 0x248,
  RF_MPI_TYPE_SHORT = 0x208,
  RF_MPI_TYPE_INTEGER2 = 0x2c9,
  RF_MPI_TYPE_UINT16_T = 0x249,
  RF_MPI_TYPE_UNSIGNED_SHORT = 0x20c,
  RF_MPI_TYPE_INT32_T = 0x250,
  RF_MPI_TYPE_INT = 0x209,
  RF_MPI_TYPE_INTEGER = 0x219,
  RF_MPI_TYPE_INTEGER4 = 0x2d1,
  RF_MPI_TYPE_UINT32_T = 0x251,
  RF_MPI_TYPE_UNSIGNED = 0x20d,
  RF_MPI_TYPE_INT64_T = 0x258,
  RF_MPI_TYPE_LONG = 0x20a,
  RF_MPI_TYPE_LONG_LONG_INT = 0x20b,
  RF_MPI_TYPE_INTEGER8 = 0x2d9,
  RF_MPI_TYPE_AINT = 0x201,
  RF_MPI_TYPE_OFFSET = 0x203,
  RF_MPI_TYPE_COUNT = 0x202,
  RF_MPI_TYPE_UINT64_T = 0x259,
  RF_MPI_TYPE_UNSIGNED_LONG = 0x20e,
  RF_MPI_TYPE_UNSIGNED_LONG_LONG = 0x20f,
  RF_MPI_TYPE_FLOAT = 0x210,
  RF_MPI_TYPE_REAL = 0x21a,
  RF_MPI_TYPE_REAL4 = 0x2d2,
  RF_MPI_TYPE_DOUBLE = 0x214,
  RF_MPI_TYPE_DOUBLE_PRECISION = 0x21c,
  RF_MPI_TYPE_REAL8 = 0x2da,
  RF_MPI_TYPE_C_FLOAT_COMPLEX = 0x212,
  RF_MPI_TYPE_COMPLEX = 0x21b,
  RF_MPI_TYPE_COMPLEX8 = 0x2db,
  RF_MPI_TYPE_C_DOUBLE_COMPLEX = 0x216,
  RF_MPI_TYPE_DOUBLE_COMPLEX = 0x21d,
  RF_MPI_TYPE_COMPLEX16 = 0x2e3,
  RF_MPI_TYPE_C_BOOL = 0x238,
  RF_MPI_TYPE_CXX_BOOL = 0x239
};
enum {
  RF_MPI_OP_SUM = 0x21,
  RF_MPI_OP_PROD = 0x24,
  RF_MPI_OP_MIN = 0x22,
  RF_MPI_OP_MAX = 0x23,
  RF_MPI_OP_LAND = 0x30,
  RF_MPI_OP_LOR = 0x31,
  RF_MPI_OP_BAND = 0x28,
  RF_MPI_OP_BOR = 0x29,
  RF_MPI_OP_BXOR = 0x2a
};

#endif /* RANKFAULT_STANDARD_ABI_H */
