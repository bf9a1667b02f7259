// completions: completion scripts for shells, made from the commands themselves.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

const std::vector<std::string>& shells();               // bash, fish, zsh
std::string completions_for(const std::string& shell);  // one of these
// The manual page rankfault(1): every command with its options, examples and exit statuses.
std::string manual_page();

}  // namespace rankfault
