// refute: what the whole record says against a claim that was proven from a part of it.
#pragma once

#include <string>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/view.h"

namespace rankfault::testing {

// Why the claim is false; "" where the record does not refute it (it may still be).
// cannot_return: a claimed call returned success. not_the_same_call: the claimed calls stand at different
// places after all, or every member made the same call at theirs. had_not_entered: the claimed call returned
// success, or a blamed rank entered its part before the claimed call was left.
std::string refutation(const JobView& whole, const Finding&);

}  // namespace rankfault::testing
