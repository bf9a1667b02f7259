// commands_page: docs/reference/commands.md, made from the commands themselves.
#pragma once

#include <string>

namespace rankfault {

// Markdown: for each command its options, arguments, examples and exit statuses, as --help has them.
std::string commands_page();

}  // namespace rankfault
