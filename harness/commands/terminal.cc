#include "harness/commands/terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace rankfault {
namespace {

// Null: the terminal lacks it. tigetstr() returns -1 when the name is unknown.
const char* capability(const char* name) {
  const char* text = ::tigetstr(name);
  return text == reinterpret_cast<const char*>(-1) ? nullptr : text;
}

int put(int c) { return std::fputc(c, stderr); }

}  // namespace

bool prepare_terminal() {
  int known = 0;
  if (!::isatty(STDERR_FILENO) || !std::getenv("TERM")) return false;
  if (::setupterm(nullptr, STDERR_FILENO, &known) != 0) return false;
  return capability("cuu") && capability("ed") && capability("cr");
}

void clear_rows_above(size_t rows) {
  if (rows > 0) ::tputs(::tiparm(capability("cuu"), static_cast<int>(rows)), 1, put);
  ::tputs(capability("cr"), 1, put);
  ::tputs(capability("ed"), 1, put);
  std::fflush(stderr);
}

}  // namespace rankfault
