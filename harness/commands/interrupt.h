// interrupt: SIGINT and SIGTERM of the tool, as a word that the run's loop reads.
#pragma once

#include <atomic>

namespace rankfault {

// From now on both only set the returned word to their number; cleaning up follows from that.
const std::atomic<int>* catch_interrupts();

}  // namespace rankfault
