// python_stacks: Python frames of a process that runs Python, by py-spy.
#pragma once

#include "harness/base/time.h"
#include "harness/evidence/evidence.h"
#include "harness/symbols/memory_map.h"

namespace rankfault {

// $RANKFAULT_PYSPY, else beside $RANKFAULT_PYTHON, else on PATH; "" nowhere.
std::string find_py_spy();

// Fills the python frames of the threads, or says why there are none. Nothing for a process in which no
// Python is loaded.
void add_python(const MemoryMap&, Duration limit, RankEvidence&);

// The same from what py-spy printed; false when it is not such.
bool take_py_spy(const std::string& text, RankEvidence&);

}  // namespace rankfault
