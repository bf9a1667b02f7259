/* types.c: predefined datatypes and reduction operations of Open MPI as the record's words. */
#include "decoder.h"

struct named_type {
  const char* symbol;
  uint8_t dtype;
};

/* The first type of each width and kind is the one a changed argument gets back (rf_type_handle).
 * MPI_PACKED is not here: it matches every type, as OTHER does. */
static const struct named_type kTypes[] = {
    {"ompi_mpi_byte", RF_DTYPE_BYTE},
    {"ompi_mpi_int8_t", RF_DTYPE_INT8},
    {"ompi_mpi_char", RF_DTYPE_INT8},
    {"ompi_mpi_signed_char", RF_DTYPE_INT8},
    {"ompi_mpi_uint8_t", RF_DTYPE_UINT8},
    {"ompi_mpi_unsigned_char", RF_DTYPE_UINT8},
    {"ompi_mpi_character", RF_DTYPE_INT8},
    {"ompi_mpi_integer1", RF_DTYPE_INT8},
    {"ompi_mpi_int16_t", RF_DTYPE_INT16},
    {"ompi_mpi_short", RF_DTYPE_INT16},
    {"ompi_mpi_integer2", RF_DTYPE_INT16},
    {"ompi_mpi_uint16_t", RF_DTYPE_UINT16},
    {"ompi_mpi_unsigned_short", RF_DTYPE_UINT16},
    {"ompi_mpi_int32_t", RF_DTYPE_INT32},
    {"ompi_mpi_int", RF_DTYPE_INT32},
    {"ompi_mpi_integer", RF_DTYPE_INT32},
    {"ompi_mpi_integer4", RF_DTYPE_INT32},
    {"ompi_mpi_uint32_t", RF_DTYPE_UINT32},
    {"ompi_mpi_unsigned", RF_DTYPE_UINT32},
    {"ompi_mpi_int64_t", RF_DTYPE_INT64},
    {"ompi_mpi_long", RF_DTYPE_INT64},
    {"ompi_mpi_long_long_int", RF_DTYPE_INT64},
    {"ompi_mpi_integer8", RF_DTYPE_INT64},
    {"ompi_mpi_aint", RF_DTYPE_INT64},
    {"ompi_mpi_offset", RF_DTYPE_INT64},
    {"ompi_mpi_count", RF_DTYPE_INT64},
    {"ompi_mpi_uint64_t", RF_DTYPE_UINT64},
    {"ompi_mpi_unsigned_long", RF_DTYPE_UINT64},
    {"ompi_mpi_unsigned_long_long", RF_DTYPE_UINT64},
    {"ompi_mpi_float", RF_DTYPE_FLOAT32},
    {"ompi_mpi_real", RF_DTYPE_FLOAT32},
    {"ompi_mpi_real4", RF_DTYPE_FLOAT32},
    {"ompi_mpi_double", RF_DTYPE_FLOAT64},
    {"ompi_mpi_dblprec", RF_DTYPE_FLOAT64},
    {"ompi_mpi_real8", RF_DTYPE_FLOAT64},
    {"ompi_mpi_c_float_complex", RF_DTYPE_COMPLEX64},
    {"ompi_mpi_cplex", RF_DTYPE_COMPLEX64},
    {"ompi_mpi_complex8", RF_DTYPE_COMPLEX64},
    {"ompi_mpi_c_double_complex", RF_DTYPE_COMPLEX128},
    {"ompi_mpi_dblcplex", RF_DTYPE_COMPLEX128},
    {"ompi_mpi_complex16", RF_DTYPE_COMPLEX128},
    {"ompi_mpi_c_bool", RF_DTYPE_BOOL},
    {"ompi_mpi_cxx_bool", RF_DTYPE_BOOL},
};

static const struct {
  const char* symbol;
  uint8_t op;
} kOps[] = {
    {"ompi_mpi_op_sum", RF_REDUCE_SUM},   {"ompi_mpi_op_prod", RF_REDUCE_PROD},
    {"ompi_mpi_op_min", RF_REDUCE_MIN},   {"ompi_mpi_op_max", RF_REDUCE_MAX},
    {"ompi_mpi_op_land", RF_REDUCE_LAND}, {"ompi_mpi_op_lor", RF_REDUCE_LOR},
    {"ompi_mpi_op_band", RF_REDUCE_BAND}, {"ompi_mpi_op_bor", RF_REDUCE_BOR},
    {"ompi_mpi_op_bxor", RF_REDUCE_BXOR},
};

enum { kTypeSlots = 256, kOpCount = sizeof(kOps) / sizeof(kOps[0]) };

static struct {
  const void* handle;
  uint8_t dtype;
} type_slots[kTypeSlots];
static const void* op_handles[kOpCount];
static const void* handle_of_dtype[RF_DTYPE_COUNT];

static const uint8_t kBytes[RF_DTYPE_COUNT] = {
#define RF_DTYPE(id, text, bytes) bytes,
#include "harness/agent/dtypes.def"
#undef RF_DTYPE
};

static unsigned slot_of(const void* handle) {
  return (unsigned)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 56) % kTypeSlots;
}

void rf_types_load(void) {
  for (size_t i = 0; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i) {
    const void* handle = rf_library_object(kTypes[i].symbol);
    int size = 0;
    /* The table is a claim about this build of the library: a width that differs is not believed. */
    if (!handle || rf_mpi.type_size((MPI_Datatype)handle, &size) != RF_MPI_SUCCESS) continue;
    if (size != kBytes[kTypes[i].dtype]) continue;
    unsigned slot = slot_of(handle);
    while (type_slots[slot].handle) slot = (slot + 1) % kTypeSlots;
    type_slots[slot].handle = handle;
    type_slots[slot].dtype = kTypes[i].dtype;
    if (!handle_of_dtype[kTypes[i].dtype]) handle_of_dtype[kTypes[i].dtype] = handle;
  }
  for (int i = 0; i < kOpCount; ++i) op_handles[i] = rf_library_object(kOps[i].symbol);
}

static uint8_t dtype_of(MPI_Datatype type) {
  for (unsigned slot = slot_of(type); type_slots[slot].handle; slot = (slot + 1) % kTypeSlots)
    if (type_slots[slot].handle == type) return type_slots[slot].dtype;
  return RF_DTYPE_OTHER;
}

/* Counts and types the library will refuse are not asked about: an error of ours would reach the
 * program's error handler. They count as moving no data. */
uint64_t rf_bytes(int count, MPI_Datatype type) {
  int size = 0;
  if (count <= 0 || !type || type == rf_mpi.datatype_null) return 0;
  const uint8_t dtype = dtype_of(type);
  if (dtype != RF_DTYPE_OTHER) return (uint64_t)count * kBytes[dtype];
  if (rf_mpi.type_size(type, &size) != RF_MPI_SUCCESS || size == RF_MPI_UNDEFINED) return (uint64_t)count;
  return (uint64_t)count * (uint64_t)size;
}

struct rf_elements rf_elements(int count, MPI_Datatype type) {
  const uint8_t dtype = dtype_of(type);
  if (dtype == RF_DTYPE_OTHER) return (struct rf_elements){rf_bytes(count, type), RF_DTYPE_OTHER};
  return (struct rf_elements){count > 0 ? (uint64_t)count : 0, dtype};
}

uint8_t rf_reduce_op(MPI_Op op) {
  for (int i = 0; i < kOpCount; ++i)
    if (op_handles[i] == op) return kOps[i].op;
  return RF_REDUCE_OTHER;
}

MPI_Datatype rf_type_handle(uint8_t dtype) {
  return dtype < RF_DTYPE_COUNT ? (MPI_Datatype)handle_of_dtype[dtype] : NULL;
}

MPI_Op rf_op_handle(uint8_t reduce_op) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].op == reduce_op) return (MPI_Op)op_handles[i];
  return NULL;
}
