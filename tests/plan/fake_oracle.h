// fake_oracle: the planner's tests do not link the judge; this oracle stands in for `finished`.
#pragma once

#include "harness/judge/oracle.h"

namespace rankfault {

inline ExpectationResult judge_nothing(const ExpectationSpec&, const RunFacts&) { return {}; }
inline const Registration<Oracle> kFakeFinished{{
    .name = "finished",
    .summary = "fake",
    .example = "finished: {}",
    .params = {{"ranks", ParamType::kRankSet, false, "which"}},
    .judge = judge_nothing,
}};
inline const Registration<Oracle> kFakeBlamed{{
    .name = "blamed",
    .summary = "fake",
    .example = "blamed: none",
    .params = {{"kind", ParamType::kText, true, "the kind"},
               {"ranks", ParamType::kRankSet, false, "whom"},
               {"after", ParamType::kText, false, "fault"}},
    .judge = judge_nothing,
}};

}  // namespace rankfault
