// launcher_options: the options of mpirun and torchrun, as far as needed to find where they end.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rankfault {

using Words = std::vector<std::string>;

// An option of a launcher without its dashes, in one spelling: "--nproc_per_node=4" is "nproc-per-node".
struct LauncherOption {
  std::string name;
  std::optional<std::string> value;  // after "="
};
LauncherOption option_of(const std::string& word);
bool is_option(const std::string& word);

// The number of words that follow an option as its values. An unknown option has none when a program or
// another option follows it.
struct Grammar {
  std::set<std::string> one, two, none;
};
const Grammar& mpirun_grammar();
const Grammar& torchrun_grammar();
const Grammar& srun_grammar();
// "-N3" becomes "-N", "3": srun takes the value of a short option in the same word. From word `from` to the
// program.
Words with_short_values_apart(const Words&, size_t from, const Grammar&);

struct Split {
  Words launcher_args, program;
  std::optional<std::string> ranks;  // as written
};
// The launcher's words end at the first word that is neither an option nor the value of one. `take_out`
// removes the `rank_options`: the launcher code of rankfault adds them itself.
Result<Split> split(const Words& words, size_t from, const Grammar&,
                    const std::set<std::string>& rank_options, bool take_out);

}  // namespace rankfault
