#include "harness/reproduce/logs/markers.h"

#include <limits>

#include "harness/base/assert.h"

namespace rankfault {

void MarkerSearch::add(std::string_view marker, unsigned bit) {
  RF_ASSERT(!marker.empty() && bit < 32, "a marker has a text and a bit");
  uint16_t at = 0;
  for (const char c : marker) {
    const auto byte = static_cast<unsigned char>(c);
    if (states_[at].next[byte] == 0) {
      RF_ASSERT(states_.size() < std::numeric_limits<uint16_t>::max(), "too many markers");
      states_[at].next[byte] = static_cast<uint16_t>(states_.size());
      states_.emplace_back();
    }
    at = states_[at].next[byte];
  }
  states_[at].bits |= uint32_t{1} << bit;
}

// Visits the states by length, so that the shorter begin of each is finished before it.
void MarkerSearch::build() {
  std::vector<uint16_t> order;
  for (const uint16_t first : states_[0].next)
    if (first != 0) order.push_back(first);
  for (size_t i = 0; i < order.size(); ++i) {
    State& state = states_[order[i]];
    const State& shorter = states_[state.shorter];
    state.bits |= shorter.bits;
    for (size_t byte = 0; byte < state.next.size(); ++byte) {
      if (state.next[byte] == 0) {
        state.next[byte] = shorter.next[byte];
      } else {
        states_[state.next[byte]].shorter = shorter.next[byte];
        order.push_back(state.next[byte]);
      }
    }
  }
}

uint32_t MarkerSearch::in(std::string_view text) const {
  uint32_t bits = 0;
  const State* const states = states_.data();
  uint16_t at = 0;
  for (const char c : text) {
    at = states[at].next[static_cast<unsigned char>(c)];
    bits |= states[at].bits;
  }
  return bits;
}

}  // namespace rankfault
