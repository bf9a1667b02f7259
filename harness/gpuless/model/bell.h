// bell.h: how the processes of a job tell each other that something changed: a word in a file, as a futex.
#pragma once

#include <string>

namespace gpuless {

// Opens FOLDER/bell once; from then on its ringing, by any process, is announced to this process's streams.
void open_bell(const std::string& folder);
void ring_bell();

}  // namespace gpuless
