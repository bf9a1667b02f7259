// interrupt: stores SIGINT, SIGTERM and SIGHUP of the tool in a word that the run's loop reads.
#pragma once

#include <atomic>

namespace rankfault {

// From now on these signals only store their number in the returned word. The reader of the word cleans up.
const std::atomic<int>* catch_interrupts();

}  // namespace rankfault
