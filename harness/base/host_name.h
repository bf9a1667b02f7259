// host_name: the name of this host.
#pragma once

#include <string>

namespace rankfault {

std::string host_name();  // as gethostname() says; "" if it says none

}  // namespace rankfault
