// own_environment: the environment with which the tool itself was started.
#pragma once

#include <map>
#include <string>

namespace rankfault {

std::map<std::string, std::string> own_environment();

}  // namespace rankfault
