// refute: whether the whole record contradicts a claim that was proven from a part of it.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault::testing {

// The places that the library gave to the calls of a simulated run, by rank, lane and number. 0: the library
// refused the call. A recorded run does not hold them.
using TruePlaces = std::map<std::tuple<int, uint32_t, uint32_t>, uint64_t>;

// Returns why the claim is false; "" if the record does not refute it (it may still be false). cannot_return:
// a claimed call returned success. not_the_same_call: the claimed calls have different places, the library
// refused one, or every member made the same call at theirs. had_not_entered: the claimed call returned
// success, or a blamed rank entered its part before the claimed call was left.
std::string refutation(const JobView& whole, const Finding&, const TruePlaces& = {});

}  // namespace rankfault::testing
