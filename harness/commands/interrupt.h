// interrupt: SIGINT and SIGTERM of the tool, as a word that the run's loop reads.
#pragma once

#include <atomic>

namespace rankfault {

// From now on both signals only store their number in the returned word; the reader of the word cleans up.
const std::atomic<int>* catch_interrupts();

}  // namespace rankfault
