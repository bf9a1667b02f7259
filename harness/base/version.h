// version: the version of rankfault.
#pragma once

namespace rankfault {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace rankfault
