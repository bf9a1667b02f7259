// markers: finds in one pass which of many texts a line contains (the automaton of Aho and Corasick).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rankfault {

class MarkerSearch {
 public:
  // `bit` is below 32. Call add for all markers, then build once.
  void add(std::string_view marker, unsigned bit);
  void build();
  // The bits of the markers that the text contains.
  uint32_t in(std::string_view text) const;

 private:
  struct State {
    std::array<uint16_t, 256> next{};
    uint16_t shorter = 0;  // the longest marker begin that also ends here
    uint32_t bits = 0;
  };
  std::vector<State> states_ = std::vector<State>(1);
};

}  // namespace rankfault
