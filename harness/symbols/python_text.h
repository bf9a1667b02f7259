// python_text: writes Python frames for people, and for comparison.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankfault {

struct CallFrame {       // of Python code that made a call, or raised an exception
  std::string file;      // as Python has it: most often an absolute path
  std::string function;  // qualified from Python 3.11 on; "<module>" for the code of a file
  int line = 0;          // 0: not known
};

// Code that the user did not write: packages, Python's own library, and code that no file has.
bool is_python_library(std::string_view path);

// "train.py:12"; with the file's folder if the name alone says little: "layers/__init__.py:3". Without the
// line if it is 0.
std::string python_line_text(const std::string& path, int line);

// How the text of a call begins that autograd makes in the pass of the program's backward().
inline constexpr std::string_view kInBackward = "backward() in ";

// "evaluate() at train.py:31, called from main() at train.py:58": the innermost two frames of the program's
// own code. A program without own code shows the innermost frames outside torch.
std::string python_text(const std::vector<CallFrame>&);
// Equal for equal frames in all ranks, and different if one line differs: calls are compared by it.
std::string python_place(const std::vector<CallFrame>&);

}  // namespace rankfault
