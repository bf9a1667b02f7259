// own_environment: the environment that the tool itself was given.
#pragma once

#include <map>
#include <string>

namespace rankfault {

std::map<std::string, std::string> own_environment();

}  // namespace rankfault
