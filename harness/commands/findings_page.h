// findings_page: docs/reference/findings.md, made from the registered rules.
#pragma once

#include <string>

namespace rankfault {

std::string findings_page();

}  // namespace rankfault
