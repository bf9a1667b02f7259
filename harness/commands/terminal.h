// terminal: moves the cursor by the terminal's own description (terminfo). Apart from the rest, because the
// headers of ncurses define macros for common words.
#pragma once

#include <cstddef>

namespace rankfault {

// Whether standard error is a terminal that can move its cursor up.
bool prepare_terminal();
// Moves up so many rows, to the first column, and clears from there to the end of the screen.
void clear_rows_above(size_t rows);

}  // namespace rankfault
