// values: numbers that the ranks report by name at a step, and when two of them are close enough.
#pragma once

#include "harness/judge/evidence.h"

namespace rankfault {

struct Closeness {  // neither: bit for bit
  std::optional<double> abs, rel;

  bool bits() const { return !abs && !rel; }
  bool near(double a, double b) const;       // of numbers that were measured
  bool equal(uint64_t a, uint64_t b) const;  // of values as they are reported: the bits of a double
  std::string text(uint64_t value) const;
};
Closeness read_closeness(const Value*);  // {abs: x} or {rel: x}; anything else: bit for bit

// A step done again after a restart counts as it was done last. rank -1: of any rank. Null: not reported.
const Mark* newest_value(const RunFacts&, const std::string& name, int64_t step, int rank);
// Over the double of CUDA kernels compute nothing: why values of this run show nothing then; "" they do.
std::string why_no_values(const RunFacts&);
int64_t last_step_of(const RunFacts&, const std::string& name);  // -1: it was never reported

struct ValueVerdict {
  Verdict verdict = Verdict::kPass;
  std::string text;
};
// That a rank said nothing of it: a failure only where its record is whole.
ValueVerdict no_value_said(const RunFacts&, const std::string& name, int64_t step, int rank);

}  // namespace rankfault
