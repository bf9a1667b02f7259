// escape: makes text harmless for the format that it is written into. Text of a job is hostile: names, paths
// and log lines may contain markup, commands of CI servers, control characters and bytes that are no text.
#pragma once

#include <string>

namespace rankfault {

// For XML 1.0, in text and in attributes. Characters that XML cannot hold become '?'; ends of lines stay.
std::string xml_text(const std::string& text);

// One line of Markdown that shows the text as it is: no markup, no HTML, no mention of a user.
std::string markdown_text(const std::string& text);
// The same as code, also in a cell of a table.
std::string markdown_code(const std::string& text);
// Lines of text as a block of code, with a fence that is longer than any in the text.
std::string markdown_block(const std::string& text);

// For workflow commands of GitHub: the message, and a property such as `file`.
std::string github_message(const std::string& text);
std::string github_property(const std::string& text);

// The text without the characters behind `most`, and with "..." if there were any. Cuts no character in two.
std::string cut_text(const std::string& text, size_t most);

}  // namespace rankfault
