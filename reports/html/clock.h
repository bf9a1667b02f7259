// clock: the page's one clock: tenths of a microsecond since the begin of the run.
#pragma once

#include "harness/base/json.h"
#include "harness/facts/run_facts.h"

namespace rankfault::html {

class Clock {
 public:
  explicit Clock(const RunFacts& facts) : begin_(facts.begin) {}

  uint64_t ticks(Instant at) const { return ns_of(lasted(begin_, at)) / 100; }
  uint64_t ticks(uint64_t ns) const { return ticks(instant_of(ns)); }
  Json json(Instant at) const { return is_known(at) ? Json(ticks(at)) : Json(); }  // null: not known

 private:
  Instant begin_;
};

}  // namespace rankfault::html
