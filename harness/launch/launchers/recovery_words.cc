#include "harness/launch/launchers/recovery_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace rankfault {
namespace {

// Open MPI 4; MPICH's hydra.
constexpr std::array<std::string_view, 2> kAlone{"enable-recovery", "disable-auto-cleanup"};

// Open MPI 5: options, and prefixes of their values; Open MPI 4 by its parameter.
struct WithValue {
  std::string_view option, value;
};
constexpr std::array<WithValue, 5> kWithValues{{{"with-ft", "ulfm"},
                                                {"with-ft", "mpi"},
                                                {"runtime-options", "recover"},
                                                {"rtos", "recover"},
                                                {"orte_enable_recovery", "1"}}};

bool says(std::string_view option, std::string_view value) {
  return std::any_of(kWithValues.begin(), kWithValues.end(), [&](const WithValue& known) {
    return known.option == option && value.find(known.value) != std::string_view::npos;
  });
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

bool leaves_other_ranks_alone(const std::vector<std::string>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = without_dashes(args[i]);
    if (args[i] != word && std::find(kAlone.begin(), kAlone.end(), word) != kAlone.end()) return true;
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos && says(word.substr(0, equals), word.substr(equals + 1)))
      return true;
    if (i + 1 < args.size() && says(word, args[i + 1])) return true;
  }
  return false;
}

}  // namespace rankfault
