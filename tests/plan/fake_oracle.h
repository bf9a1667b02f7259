// fake_oracle: the planner's tests do not link the judge; this oracle stands in for `finished`.
#pragma once

#include "harness/judge/oracle.h"

namespace rankfault {

inline ExpectationResult judge_nothing(const ExpectationSpec&, const RunFacts&) { return {}; }
inline const Registration<Oracle> kFakeFinished{Oracle{"finished",
                                                       "fake",
                                                       "finished: {}",
                                                       {{"ranks", ParamType::kRankSet, false, "which"}},
                                                       nullptr,
                                                       judge_nothing,
                                                       false}};
inline const Registration<Oracle> kFakeBlamed{Oracle{"blamed",
                                                     "fake",
                                                     "blamed: none",
                                                     {{"kind", ParamType::kText, true, "the kind"},
                                                      {"ranks", ParamType::kRankSet, false, "whom"},
                                                      {"after", ParamType::kText, false, "fault"}},
                                                     nullptr,
                                                     judge_nothing,
                                                     false}};

}  // namespace rankfault
