/* decoder.c: the data of this decoder for the core. */
#include "decoder.h"

const struct rf_core_v1* rf_core;

/* The wrappers have their own types; only their addresses matter here. */
#define RF_WRAPPED(name)         \
  extern void wrap_##name(void); \
  void* next_##name;
#include "wrapped.def"
#include "wrapped_fortran.def"
#undef RF_WRAPPED

static const struct rf_wrapper kWrappers[] = {
#define RF_WRAPPED(name) {#name, (void*)wrap_##name, &next_##name},
#include "wrapped.def"
#include "wrapped_fortran.def"
#undef RF_WRAPPED
    {NULL, NULL, NULL}};

static int attach(const struct rf_core_v1* core, const char** reason) {
  if (core->version != RF_CORE_VERSION || core->bytes < sizeof(*core)) {
    *reason = "core version";
    return -1;
  }
  rf_core = core;
  if (rf_library_load(reason) != 0 || rf_fortran_load(reason) != 0) return -1;
  core->coverage(RF_LIB_MPI, RF_MPI_DECODER, rf_library_version(), RF_HOOK_PRELOAD, "");
  return 0;
}

__attribute__((visibility("default"))) const struct rf_decoder_v1 rankfault_decoder_v1 = {
    .version = RF_CORE_VERSION,
    .bytes = sizeof(struct rf_decoder_v1),
    .name = RF_MPI_DECODER,
    .library = RF_LIB_MPI,
    .wrappers = kWrappers,
    .attach = attach,
};
