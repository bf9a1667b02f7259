// values: numbers that the ranks report by name at a step, and when two of them are close enough.
#pragma once

#include "harness/judge/oracle_queries.h"

namespace rankfault {

struct Closeness {  // neither: bit for bit
  std::optional<double> abs, rel;

  bool bits() const { return !abs && !rel; }
  bool near(double a, double b) const;       // for measured numbers
  bool equal(uint64_t a, uint64_t b) const;  // for values as they are reported: the bits of a double
  std::string text(uint64_t value) const;
};
Closeness read_closeness(const Value*);  // {abs: x} or {rel: x}; anything else: bit for bit

// For a step that was repeated after a restart, returns the last value. rank -1: any rank. Null: not
// reported.
const Mark* newest_value(const RunFacts&, const std::string& name, int64_t step, int rank);
// Over the double of CUDA, kernels compute nothing. Returns why values of this run therefore show nothing;
// "": they do show something.
std::string why_no_values(const RunFacts&);
int64_t last_step_of(const RunFacts&, const std::string& name);  // -1: it was never reported

struct ValueVerdict {
  Verdict verdict = Verdict::kPass;
  std::string text;
};
// The verdict when a rank did not report the value: a failure only if its record is whole.
ValueVerdict no_value_said(const RunFacts&, const std::string& name, int64_t step, int rank);

}  // namespace rankfault
