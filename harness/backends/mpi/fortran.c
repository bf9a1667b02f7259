/* fortran.c: what the Fortran wrappers share; barrier, broadcast and the reductions.
 *
 * What of Fortran is not wrapped passes through as opaque communication: nothing is proven beside it. */
#include "fortran.h"

#include "shapes.h"

MPI_Comm (*rf_comm_f2c)(fint);
MPI_Datatype (*rf_type_f2c)(fint);
MPI_Op (*rf_op_f2c)(fint);
MPI_Request (*rf_request_f2c)(fint);
fint (*rf_comm_c2f)(MPI_Comm);
fint (*rf_request_c2f)(MPI_Request);
static fint (*type_c2f)(MPI_Datatype);
static fint (*op_c2f)(MPI_Op);

int rf_fortran_load(const char** reason) {
  static const struct rf_wanted kConverters[] = {
      {"PMPI_Comm_f2c", &rf_comm_f2c}, {"PMPI_Type_f2c", &rf_type_f2c},
      {"PMPI_Op_f2c", &rf_op_f2c},     {"PMPI_Request_f2c", &rf_request_f2c},
      {"PMPI_Comm_c2f", &rf_comm_c2f}, {"PMPI_Request_c2f", &rf_request_c2f},
      {"PMPI_Type_c2f", &type_c2f},    {"PMPI_Op_c2f", &op_c2f}};
  return rf_library_functions(kConverters, sizeof(kConverters) / sizeof(kConverters[0]), reason);
}

/* The module of each compiler spells its object in one of these ways. */
const void* rf_fortran_buffer(const void* buffer) {
  static const char* const kSpellings[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                           "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
  enum { kCount = sizeof(kSpellings) / sizeof(kSpellings[0]) };
  static const void* in_place[kCount];
  for (int i = 0; i < kCount; ++i) {
    const void* known = __atomic_load_n(&in_place[i], __ATOMIC_RELAXED);
    if (!known) {
      known = rf_openmpi_object(kSpellings[i]);
      __atomic_store_n(&in_place[i], known ? known : (const void*)kSpellings, __ATOMIC_RELAXED);
    }
    if (buffer == known) return RF_MPI_IN_PLACE;
  }
  return buffer;
}

void rf_fortran_change(const struct rf_call* call, struct rf_fortran_arguments* a) {
  if (call->changed == RF_ARG_COUNT) a->count = (fint)call->changed_to;
  if (call->changed == RF_ARG_ROOT || call->changed == RF_ARG_PEER) a->root = (fint)call->changed_to;
  if (call->changed == RF_ARG_DTYPE && rf_type_handle((uint8_t)call->changed_to))
    a->type = type_c2f(rf_type_handle((uint8_t)call->changed_to));
  if (call->changed == RF_ARG_REDUCE_OP && rf_op_handle((uint8_t)call->changed_to))
    a->op = op_c2f(rf_op_handle((uint8_t)call->changed_to));
}

#define TYPE(t) rf_type_f2c(*(t))
#define OP(o) rf_op_f2c(*(o))
#define BUFFER(b) rf_fortran_buffer(b)

static void f_barrier(void* next, const void* where, fint* comm, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call = rf_call_on(RF_OP_BARRIER, c, where);
  MAKE(&call, c, GO(next)(comm, e));
}
NAMES(barrier, (fint * comm, fint* error), (comm, error))

static void f_ibarrier(void* next, const void* where, fint* comm, fint* q, fint* error) {
  const MPI_Comm c = rf_comm_f2c(*comm);
  struct rf_call call = rf_call_on(RF_OP_BARRIER, c, where);
  ENQUEUE(&call, c, q, GO(next)(comm, q, e));
}
NAMES(ibarrier, (fint * comm, fint* q, fint* error), (comm, q, error))

COLLECTIVE(bcast, P(void* b, fint* n, fint* t, fint* root), P(b, n, t, root), CHANGEABLE(*n, *t, *root, 0),
           rf_rooted(RF_OP_BROADCAST, c, *n, TYPE(t), *root, where), P(b, &a.count, &a.type, &a.root))
COLLECTIVE(reduce, P(void* s, void* r, fint* n, fint* t, fint* o, fint* root), P(s, r, n, t, o, root),
           CHANGEABLE(*n, *t, *root, *o), rf_rooted_reduction(BUFFER(s), *n, TYPE(t), OP(o), *root, c, where),
           P(s, r, &a.count, &a.type, &a.op, &a.root))

#define REDUCTION(name, shape)                                                       \
  COLLECTIVE(name, P(void* s, void* r, fint* n, fint* t, fint* o), P(s, r, n, t, o), \
             CHANGEABLE(*n, *t, 0, *o), shape, P(s, r, &a.count, &a.type, &a.op))
REDUCTION(allreduce, rf_reduction(RF_OP_ALL_REDUCE, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(scan, rf_reduction(RF_OP_SCAN, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(exscan, rf_reduction(RF_OP_EXSCAN, c, BUFFER(s), *n, TYPE(t), OP(o), where))
REDUCTION(reduce_scatter_block, rf_block_reduction(BUFFER(s), *n, TYPE(t), OP(o), c, where))
COLLECTIVE(reduce_scatter, P(void* s, void* r, fint* n, fint* t, fint* o), P(s, r, n, t, o),
           CHANGEABLE(0, *t, 0, *o), rf_scattered_reduction(BUFFER(s), n, TYPE(t), OP(o), c, where),
           P(s, r, n, &a.type, &a.op))
