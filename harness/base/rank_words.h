// rank_words: ranks in texts.
#pragma once

#include <string>
#include <vector>

namespace rankfault {

// "rank 3", "ranks 0 1 2", "ranks 0-15", "ranks 0-42 44-63", "no rank". The ranks are sorted.
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace rankfault
