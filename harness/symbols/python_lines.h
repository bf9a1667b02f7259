// python_lines: finds the line of an instruction in the line table of a Python code object.
#pragma once

#include <cstdint>
#include <string_view>

namespace rankfault {

// `minor` is that of Python 3; `at` is the offset of the instruction in bytes. Returns 0 if the table gives
// the instruction no line, or is damaged.
//
// The formats are those of co_lnotab (3.8, 3.9: Objects/lnotab_notes.txt of CPython), of co_linetable with
// pairs (3.10: PEP 626), and of location tables (3.11 and later: Objects/locations.md, later
// InternalDocs/code_objects.md).
int python_line(int minor, int first_line, std::string_view table, uint32_t at);

}  // namespace rankfault
