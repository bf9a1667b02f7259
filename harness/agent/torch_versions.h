/* torch_versions.h: the versions of PyTorch whose calls the decoder records: those whose headers have the
 * same members and methods. docs/internals/gloo.md says on which of them it was run. */
#ifndef RANKFAULT_AGENT_TORCH_VERSIONS_H
#define RANKFAULT_AGENT_TORCH_VERSIONS_H

#include <stdint.h>

#define RF_TORCH_1 11300u
#define RF_TORCH_2_FIRST 20400u
#define RF_TORCH_2_LAST 21300u
#define RF_TORCH_VERSIONS "1.13 or 2.4 to 2.13"

/* "2.13.0+cpu" -> 21300; 0: no version, or a nightly one ("2.13.0.dev20260101"), whose headers may be others.
 * A build from the sources of a release is "1.13.0a0", as Debian's is. By hand: new versions of glibc give
 * sscanf a name that older ones lack. */
static inline uint32_t rf_torch_version(const char* text) {
  uint32_t parts[3] = {0, 0, 0};
  int part = 0, digits = 0;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && digits && part < 2); ++text) {
    if (*text == '.') {
      ++part;
      digits = 0;
    } else if (++digits > 2) {
      return 0;
    } else {
      parts[part] = 10 * parts[part] + (uint32_t)(*text - '0');
    }
  }
  if (text[0] == 'a' && text[1] == '0') text += 2;
  if (part == 0 || digits == 0 || (*text != 0 && *text != '+')) return 0;
  return 10000 * parts[0] + 100 * parts[1];
}
static inline int rf_torch_is_known(uint32_t version) {
  return version == RF_TORCH_1 || (version >= RF_TORCH_2_FIRST && version <= RF_TORCH_2_LAST);
}

#endif /* RANKFAULT_AGENT_TORCH_VERSIONS_H */
