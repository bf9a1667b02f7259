// bell.h: how the processes of a job signal a change to each other: a word in a file, as a futex.
#pragma once

#include <string>

namespace cuda_double {

// Opens FOLDER/bell once. From then on, when any process rings it, this process's streams are notified.
void open_bell(const std::string& folder);
void ring_bell();

}  // namespace cuda_double
