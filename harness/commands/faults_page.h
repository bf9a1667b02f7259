// faults_page: the kinds of faults for faults/README.md: a line each, then a section each.
#pragma once

#include <string>

namespace rankfault {

// Between the two comments that mark its place on the page.
std::string faults_page();

}  // namespace rankfault
