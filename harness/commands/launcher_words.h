// launcher_words: the options of mpirun and torchrun, as far as it has to be known where they end.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

using Words = std::vector<std::string>;

// An option of a launcher without its dashes, and spelled in one way: "--nproc_per_node=4" is
// "nproc-per-node".
struct LauncherOption {
  std::string name;
  std::optional<std::string> value;  // behind "="
};
LauncherOption option_of(const std::string& word);
bool is_option(const std::string& word);

// How many words follow an option as its values. One that is not known has none when a program or another
// option follows it.
struct Grammar {
  std::set<std::string> one, two, none;
};
const Grammar& mpirun_grammar();
const Grammar& torchrun_grammar();

struct Split {
  Words launcher_args, program;
  std::optional<std::string> ranks;  // as written
};
// The launcher's words end where a word stands that is neither an option nor the value of one. `rank_options`
// are taken out on demand: the launcher that rankfault uses says them itself.
Result<Split> split(const Words& words, size_t from, const Grammar&,
                    const std::set<std::string>& rank_options, bool take_out);

}  // namespace rankfault
