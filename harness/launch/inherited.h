// inherited: the descriptors that rankfault itself was started with. A watched job gets them, as it would without
// us: a shell gives files to its commands (3<file, <(command)).
#pragma once

namespace rankfault {

// At the start of main, before anything is opened. One thread.
void note_inherited_descriptors();

// In a forked child: all other descriptors from 3 on are closed by its exec. Calls nothing that may lock.
void keep_inherited_descriptors();

}  // namespace rankfault
