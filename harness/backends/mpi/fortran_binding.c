/* fortran_binding.c: the library's own Fortran functions in this process: their address range, the conversion
 * of their handles to C, and their buffers in C's terms. */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>

#include "fortran.h"

struct rf_binding rf_binding;

static int around(struct dl_phdr_info* object, size_t size, void* address) {
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || (uintptr_t)address - begin >= part->p_memsz) continue;
    rf_binding.begin = begin;
    rf_binding.bytes = part->p_memsz;
    return 1;
  }
  return 0;
}

/* A program without Fortran has no binding. A binding that is linked into the program cannot be distinguished
 * from the program. */
static void find_binding(void) {
  void* const function = rf_core->resolve("mpi_init_");
  if (function) dl_iterate_phdr(around, function);
}

#ifdef RF_MPI_FROM_NUMBER
MPI_Comm (*rf_comm_f2c)(int);
MPI_Datatype (*rf_type_f2c)(int);
MPI_Op (*rf_op_f2c)(int);
MPI_Request (*rf_request_f2c)(int);
int (*rf_comm_c2f)(MPI_Comm);
int (*rf_request_c2f)(MPI_Request);
int (*rf_type_c2f)(MPI_Datatype);
int (*rf_op_c2f)(MPI_Op);
int (*rf_message_c2f)(MPI_Message);

int rf_fortran_load(const char** reason) {
  static const struct rf_wanted kConverters[] = {
      {RF_MPI_FROM_NUMBER("Comm"), &rf_comm_f2c},    {RF_MPI_FROM_NUMBER("Type"), &rf_type_f2c},
      {RF_MPI_FROM_NUMBER("Op"), &rf_op_f2c},        {RF_MPI_FROM_NUMBER("Request"), &rf_request_f2c},
      {RF_MPI_TO_NUMBER("Comm"), &rf_comm_c2f},      {RF_MPI_TO_NUMBER("Request"), &rf_request_c2f},
      {RF_MPI_TO_NUMBER("Type"), &rf_type_c2f},      {RF_MPI_TO_NUMBER("Op"), &rf_op_c2f},
      {RF_MPI_TO_NUMBER("Message"), &rf_message_c2f}};
  find_binding();
  return rf_library_functions(kConverters, sizeof(kConverters) / sizeof(kConverters[0]), reason);
}
#else
int rf_fortran_load(const char** reason) {
  (void)reason;
  find_binding();
  return 0;
}
#endif

/* A descriptor begins with the address of the data (Fortran 2018, 18.5.3). */
const void* rf_fortran_buffer(const void* buffer, int module) {
  if (module == RF_MPI_F08TS && buffer) buffer = *(const void* const*)buffer;
  return rf_abi_fortran_in_place(buffer, module) ? RF_MPI_IN_PLACE : buffer;
}

void rf_fortran_change(const struct rf_call* call, struct rf_fortran_arguments* a) {
  if (call->changed == RF_ARG_COUNT) a->count = (fint)call->changed_to;
  if (call->changed == RF_ARG_ROOT || call->changed == RF_ARG_PEER) a->root = (fint)call->changed_to;
  if (call->changed == RF_ARG_DTYPE && rf_type_handle((uint8_t)call->changed_to))
    a->type = rf_type_c2f(rf_type_handle((uint8_t)call->changed_to));
  if (call->changed == RF_ARG_REDUCE_OP && rf_op_handle((uint8_t)call->changed_to))
    a->op = rf_op_c2f(rf_op_handle((uint8_t)call->changed_to));
}

/* There are as many as the communicator has members: for an unknown communicator nothing is read. */
void rf_fortran_types(struct rf_fortran_types* types, MPI_Comm comm, const fint* numbers) {
  enum { kOnStack = sizeof(types->on_stack) / sizeof(types->on_stack[0]) };
  const uint32_t index = rf_comm_index(comm);
  const struct rf_comm* const on = index == RF_NO_COMM ? NULL : rf_core->comm_get(index);
  const uint32_t count = on && !(on->flags & RF_COMM_INTER) ? on->size : 0;
  types->all = types->on_stack;
  if (count > kOnStack) types->all = malloc(count * sizeof(MPI_Datatype));
  if (!types->all) {
    rf_core->opaque(RF_OPAQUE_COMMUNICATION);
    return;
  }
  for (uint32_t i = 0; i < count; ++i) types->all[i] = rf_type_f2c(numbers[i]);
}

void rf_fortran_types_drop(struct rf_fortran_types* types) {
  if (types->all != types->on_stack) free(types->all);
}
