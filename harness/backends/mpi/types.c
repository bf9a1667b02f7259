/* types.c: converts predefined datatypes and reduction operations to the record's words. */
#include "decoder.h"

static const struct {
  rf_predefined known;
  uint8_t dtype;
} kTypes[] = {
#define RF_TYPE(object, name, word) {RF_PREDEFINED_TYPE(object, name), RF_DTYPE_##word},
#include "types.def"
#undef RF_TYPE
};

static const struct {
  rf_predefined known;
  uint8_t op;
} kOps[] = {
#define RF_OP(object, name) {RF_PREDEFINED_OP(object, name), RF_REDUCE_##name},
#include "reduce_ops.def"
#undef RF_OP
};

enum { kTypeSlots = 256, kOpCount = sizeof(kOps) / sizeof(kOps[0]) };

static struct {
  MPI_Datatype handle;
  uint8_t dtype;
} type_slots[kTypeSlots];
static MPI_Op op_handles[kOpCount];
static MPI_Datatype handle_of_dtype[RF_DTYPE_COUNT];

static const uint8_t kBytes[RF_DTYPE_COUNT] = {
#define RF_DTYPE(id, text, bytes) bytes,
#include "harness/agent/dtypes.def"
#undef RF_DTYPE
};

static unsigned slot_of(MPI_Datatype handle) {
  return (unsigned)(RF_HANDLE_BITS(handle) * 0x9e3779b97f4a7c15ull >> 56) % kTypeSlots;
}

void rf_types_load(void) {
  for (size_t i = 0; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i) {
    const MPI_Datatype handle = rf_abi_type(kTypes[i].known);
    int64_t size = 0;
    /* The table is a claim about this build of the library: an entry with another width is ignored. */
    if (handle == RF_NO_HANDLE || rf_mpi.type_size(handle, &size) != RF_MPI_SUCCESS) continue;
    if (size != kBytes[kTypes[i].dtype]) continue;
    unsigned slot = slot_of(handle);
    while (type_slots[slot].handle) slot = (slot + 1) % kTypeSlots;
    type_slots[slot].handle = handle;
    type_slots[slot].dtype = kTypes[i].dtype;
    if (!handle_of_dtype[kTypes[i].dtype]) handle_of_dtype[kTypes[i].dtype] = handle;
  }
  for (int i = 0; i < kOpCount; ++i) op_handles[i] = rf_abi_op(kOps[i].known);
}

static uint8_t dtype_of(MPI_Datatype type) {
  for (unsigned slot = slot_of(type); type_slots[slot].handle; slot = (slot + 1) % kTypeSlots)
    if (type_slots[slot].handle == type) return type_slots[slot].dtype;
  return RF_DTYPE_OTHER;
}

/* The library is not asked about counts and types that it will refuse: such an error would reach the
 * program's error handler. They count as moving no data. */
uint64_t rf_bytes(int64_t count, MPI_Datatype type) {
  int64_t size = 0;
  if (count <= 0 || !type || type == rf_mpi.datatype_null) return 0;
  const uint8_t dtype = dtype_of(type);
  if (dtype != RF_DTYPE_OTHER) return (uint64_t)count * kBytes[dtype];
  if (rf_mpi.type_size(type, &size) != RF_MPI_SUCCESS || size < 0) return (uint64_t)count;
  return (uint64_t)count * (uint64_t)size;
}

struct rf_elements rf_elements(int64_t count, MPI_Datatype type) {
  const uint8_t dtype = dtype_of(type);
  if (dtype == RF_DTYPE_OTHER) return (struct rf_elements){rf_bytes(count, type), RF_DTYPE_OTHER};
  return (struct rf_elements){count > 0 ? (uint64_t)count : 0, dtype};
}

static int is_untyped(uint8_t dtype) { return dtype == RF_DTYPE_OTHER || dtype == RF_DTYPE_BYTE; }

static int is_integer(uint8_t dtype) { return dtype >= RF_DTYPE_INT8 && dtype <= RF_DTYPE_UINT64; }

/* Bytes for a type, and unsigned for signed, are also mistakes (MPI 4.1, 3.3.1), but move the same data
 * everywhere. */
int rf_is_unequal(int64_t sent, MPI_Datatype st, int64_t taken, MPI_Datatype tt) {
  const uint8_t s = dtype_of(st), t = dtype_of(tt);
  const uint64_t sent_bytes = rf_bytes(sent, st), taken_bytes = rf_bytes(taken, tt);
  if ((sent_bytes == 0 && sent != 0) || (taken_bytes == 0 && taken != 0)) return 0; /* refused, or no size */
  if (sent_bytes != taken_bytes) return 1;
  return s != t && !is_untyped(s) && !is_untyped(t) && !(is_integer(s) && is_integer(t)) && sent_bytes != 0;
}

uint8_t rf_reduce_op(MPI_Op op) {
  for (int i = 0; i < kOpCount; ++i)
    if (op_handles[i] == op) return kOps[i].op;
  return RF_REDUCE_OTHER;
}

MPI_Datatype rf_type_handle(uint8_t dtype) {
  return dtype < RF_DTYPE_COUNT ? handle_of_dtype[dtype] : RF_NO_HANDLE;
}

MPI_Op rf_op_handle(uint8_t reduce_op) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].op == reduce_op) return op_handles[i];
  return RF_NO_HANDLE;
}
