// sockets: the TCP connections of a process and the bytes in their queues.
#pragma once

#include <vector>

#include "harness/evidence/evidence.h"

namespace rankfault {

// Uses /proc/PID/net/tcp{,6} and the descriptors of the process. A queue that is not empty on one side and
// empty on the other shows which process does not read.
std::vector<SocketEvidence> sockets_of(int pid);

}  // namespace rankfault
