// yaml_mistakes: says a mistake of YAML in the words of its writer, at the place where it was made. The
// parser names the place where it noticed.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace rankfault {

// `noticed`: what the parser said, and where.
Error yaml_mistake(const std::string& text, const Error& noticed);

}  // namespace rankfault
