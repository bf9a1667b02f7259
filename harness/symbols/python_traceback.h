// python_traceback: finds the exception that ended a Python program in the end of its output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/symbols/python_text.h"

namespace rankfault {

struct PythonTraceback {
  std::string exception;          // "ValueError: the sample has no label": the first line of its text
  std::vector<CallFrame> frames;  // innermost first
  // The lines behind it: more of the exception's text, or what the program wrote afterwards.
  std::vector<std::string> behind;
};

// Reads the last traceback of these lines, in the form that CPython's traceback module prints. It passes over
// those that end no program: of a thread, of a destructor, of a logger. PyTorch's prefix "[rank1]: " is left
// out, and with `rank` the lines of other ranks. Nothing if there is none, or if it has a form of its own, as
// a group of exceptions has.
//
// The report of Python's faulthandler about a signal that ends the process counts as one: its exception is
// "Fatal Python error: Segmentation fault", its frames are those of the thread that got the signal.
std::optional<PythonTraceback> python_traceback(const std::vector<std::string>& lines, int rank = -1);

}  // namespace rankfault
