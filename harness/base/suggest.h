// suggest: finds the known word that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankfault {

// " (did you mean \"x\"?)" with a leading space, or "" if no candidate is near enough.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rankfault
