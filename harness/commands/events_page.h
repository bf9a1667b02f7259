// events_page: docs/reference/journal.md, made from the events of harness/journal.
#pragma once

#include <string>

#include "harness/journal/journal_line.h"

namespace rankfault {

std::string events_page();

// "rank (-1: a launcher program), pid": the keys of one event with what explains them.
std::string keys_text(const EventPage&);

}  // namespace rankfault
