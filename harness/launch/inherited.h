// inherited: the descriptors with which rankfault itself was started. A watched job gets them, as it would
// without us: a shell gives files to its commands (3<file, <(command)).
#pragma once

namespace rankfault {

// Call at the start of main, before anything is opened. One thread.
void note_inherited_descriptors();

// Call in a forked child: its exec then closes all other descriptors from 3 on. Calls nothing that may lock.
void keep_inherited_descriptors();

}  // namespace rankfault
