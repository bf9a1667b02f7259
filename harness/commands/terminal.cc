#include "harness/commands/terminal.h"

#include <curses.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace rankfault {
namespace {

// tigetstr() returns -1 for a name that is no string capability.
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

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void clear_rows_above(size_t rows) {
  if (rows > 0) ::tputs(::tiparm(capability("cuu"), static_cast<int>(rows)), 1, put);
  ::tputs(capability("cr"), 1, put);
  ::tputs(capability("ed"), 1, put);
  std::fflush(stderr);
}

}  // namespace rankfault
