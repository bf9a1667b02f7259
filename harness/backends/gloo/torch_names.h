// torch_names.h: the names of process groups, from the stores that PyTorch gives them.
#ifndef RANKFAULT_BACKENDS_GLOO_TORCH_NAMES_H
#define RANKFAULT_BACKENDS_GLOO_TORCH_NAMES_H

#include <string>

namespace rankfault::gloo_decoder {

// torch.distributed wraps the store once for each group, with the group's name as the prefix; the prefix of
// the default group is "0". Within the group each device type has a prefix, too.
std::string prefix_of(void* store);

// What findings and triggers call the group.
std::string name_of(const std::string& prefix, bool is_world);

}  // namespace rankfault::gloo_decoder

#endif  // RANKFAULT_BACKENDS_GLOO_TORCH_NAMES_H
