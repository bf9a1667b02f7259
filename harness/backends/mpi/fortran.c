/* fortran.c: the Fortran layer for the calls that small codes live on: barrier, broadcast, all_reduce,
 * reduce, send, receive. Open MPI's Fortran functions go straight to PMPI, so a C wrapper never sees them.
 * The handles are numbers.
 *
 * Everything else of Fortran passes through as opaque communication: nothing is proven beside it. */
#include "fortran.h"

static MPI_Comm (*comm_f2c)(fint);
static MPI_Datatype (*type_f2c)(fint);
static MPI_Op (*op_f2c)(fint);

int rf_fortran_load(const char** reason) {
  static const struct rf_wanted kConverters[] = {
      {"PMPI_Comm_f2c", &comm_f2c}, {"PMPI_Type_f2c", &type_f2c}, {"PMPI_Op_f2c", &op_f2c}};
  return rf_library_functions(kConverters, sizeof(kConverters) / sizeof(kConverters[0]), reason);
}

static int is_in_place(const void* buffer) {
  static const void* in_place;
  if (!in_place) in_place = rf_openmpi_object("mpi_fortran_in_place_");
  return buffer == in_place;
}

static fint number_of(const char* converter, void* handle) {
  fint (*convert)(void*) = (fint(*)(void*))rf_core->resolve(converter);
  return convert ? convert(handle) : 0;
}

struct arguments { /* what an action may have changed; the program's own are left alone */
  fint count, type, root, op;
};

static void apply_change(const struct rf_call* call, struct arguments* a) {
  if (call->changed == RF_ARG_COUNT) a->count = (fint)call->changed_to;
  if (call->changed == RF_ARG_ROOT || call->changed == RF_ARG_PEER) a->root = (fint)call->changed_to;
  if (call->changed == RF_ARG_DTYPE && rf_type_handle((uint8_t)call->changed_to))
    a->type = number_of("PMPI_Type_c2f", rf_type_handle((uint8_t)call->changed_to));
  if (call->changed == RF_ARG_REDUCE_OP && rf_op_handle((uint8_t)call->changed_to))
    a->op = number_of("PMPI_Op_c2f", rf_op_handle((uint8_t)call->changed_to));
}

static void f_barrier(void* next, const void* where, fint* comm, fint* error) {
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = rf_call_on(RF_OP_BARRIER, c, where);
  MAKE(&call, c, ((void (*)(fint*, fint*))next)(comm, e));
}
NAMES(barrier, (fint * comm, fint* error), (comm, error))

static struct rf_call moving(uint16_t op, MPI_Comm comm, const struct arguments* a, const void* where) {
  struct rf_call call = rf_call_on(op, comm, where);
  const struct rf_elements elements = rf_elements(a->count, type_f2c(a->type));
  call.count = elements.count;
  call.dtype = elements.dtype;
  return call;
}

static void f_bcast(void* next, const void* where, void* b, fint* n, fint* t, fint* root, fint* comm,
                    fint* error) {
  struct arguments a = {*n, *t, *root, 0};
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = moving(RF_OP_BROADCAST, c, &a, where);
  call.peer = *root;
  MAKE(&call, c, apply_change(&call, &a);
       ((void (*)(void*, fint*, fint*, fint*, fint*, fint*))next)(b, &a.count, &a.type, &a.root, comm, e));
}
NAMES(bcast, (void* b, fint* n, fint* t, fint* root, fint* comm, fint* error), (b, n, t, root, comm, error))

static void f_allreduce(void* next, const void* where, void* s, void* r, fint* n, fint* t, fint* o,
                        fint* comm, fint* error) {
  struct arguments a = {*n, *t, 0, *o};
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = moving(RF_OP_ALL_REDUCE, c, &a, where);
  call.reduce_op = rf_reduce_op(op_f2c(*o));
  if (is_in_place(s)) call.flags |= RF_CALL_IN_PLACE;
  MAKE(&call, c, apply_change(&call, &a); ((void (*)(void*, void*, fint*, fint*, fint*, fint*, fint*))next)(
      s, r, &a.count, &a.type, &a.op, comm, e));
}
NAMES(allreduce, (void* s, void* r, fint* n, fint* t, fint* o, fint* comm, fint* error),
      (s, r, n, t, o, comm, error))

static void f_reduce(void* next, const void* where, void* s, void* r, fint* n, fint* t, fint* o, fint* root,
                     fint* comm, fint* error) {
  struct arguments a = {*n, *t, *root, *o};
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = moving(RF_OP_REDUCE, c, &a, where);
  call.reduce_op = rf_reduce_op(op_f2c(*o));
  call.peer = *root;
  if (is_in_place(s)) call.flags |= RF_CALL_IN_PLACE;
  MAKE(&call, c, apply_change(&call, &a);
       ((void (*)(void*, void*, fint*, fint*, fint*, fint*, fint*, fint*))next)(s, r, &a.count, &a.type,
                                                                                &a.op, &a.root, comm, e));
}
NAMES(reduce, (void* s, void* r, fint* n, fint* t, fint* o, fint* root, fint* comm, fint* error),
      (s, r, n, t, o, root, comm, error))

static void f_send(void* next, const void* where, void* b, fint* n, fint* t, fint* dest, fint* tag,
                   fint* comm, fint* error) {
  struct arguments a = {*n, *t, *dest, 0};
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = rf_message(RF_OP_SEND, *n, type_f2c(*t), *dest, *tag, c, where);
  MAKE(&call, c, apply_change(&call, &a); ((void (*)(void*, fint*, fint*, fint*, fint*, fint*, fint*))next)(
      b, &a.count, &a.type, &a.root, tag, comm, e));
}
NAMES(send, (void* b, fint* n, fint* t, fint* dest, fint* tag, fint* comm, fint* error),
      (b, n, t, dest, tag, comm, error))

/* A skipped receive leaves the status as it was: its Fortran form differs between the modules. */
static void f_recv(void* next, const void* where, void* b, fint* n, fint* t, fint* source, fint* tag,
                   fint* comm, void* status, fint* error) {
  struct arguments a = {*n, *t, *source, 0};
  const MPI_Comm c = comm_f2c(*comm);
  struct rf_call call = rf_message(RF_OP_RECV, *n, type_f2c(*t), *source, *tag, c, where);
  MAKE(&call, c, apply_change(&call, &a);
       ((void (*)(void*, fint*, fint*, fint*, fint*, fint*, void*, fint*))next)(b, &a.count, &a.type, &a.root,
                                                                                tag, comm, status, e));
}
NAMES(recv, (void* b, fint* n, fint* t, fint* source, fint* tag, fint* comm, void* status, fint* error),
      (b, n, t, source, tag, comm, status, error))
