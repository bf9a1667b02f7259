// old_names: words that scenario files used before, with their present words. An old word works for one
// release, with a warning.
#pragma once

#include <optional>
#include <string>

namespace rankfault {

// The present name of an oracle; nullopt: the name is not an old one.
std::optional<std::string> renamed_oracle(const std::string& name);

}  // namespace rankfault
