// python_stacks: the Python frames of a process that runs Python, from py-spy.
#pragma once

#include "harness/base/time.h"
#include "harness/evidence/evidence.h"
#include "harness/symbols/memory_map.h"

namespace rankfault {

// $RANKFAULT_PYSPY, else beside $RANKFAULT_PYTHON, else on PATH; "": not found.
std::string find_py_spy();

// Fills the Python frames of the threads, or the reason why there are none. Does nothing for a process that
// has not loaded Python.
void add_python(const MemoryMap&, Duration limit, RankEvidence&);

// The same from py-spy's output; false if the text is not such output.
bool take_py_spy(const std::string& text, RankEvidence&);

}  // namespace rankfault
