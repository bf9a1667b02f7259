/* torch_versions.h: the versions of PyTorch whose calls the decoder records: those whose headers have the same
 * members and methods. docs/internals/gloo.md says on which of them it was run. */
#ifndef RANKFAULT_AGENT_TORCH_VERSIONS_H
#define RANKFAULT_AGENT_TORCH_VERSIONS_H

#include <stdint.h>
#include <stdio.h>

#define RF_TORCH_1 11300u
#define RF_TORCH_2_FIRST 20400u
#define RF_TORCH_2_LAST 21300u
#define RF_TORCH_VERSIONS "1.13 or 2.4 to 2.13"

/* "2.13.0+cpu" -> 21300; 0: no version. */
static inline uint32_t rf_torch_version(const char* text) {
  unsigned major = 0, minor = 0;
  return sscanf(text, "%2u.%2u", &major, &minor) == 2 ? 10000 * major + 100 * minor : 0;
}
static inline int rf_torch_is_known(uint32_t version) {
  return version == RF_TORCH_1 || (version >= RF_TORCH_2_FIRST && version <= RF_TORCH_2_LAST);
}

#endif /* RANKFAULT_AGENT_TORCH_VERSIONS_H */
