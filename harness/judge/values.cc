#include "harness/judge/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace rankfault {

bool Closeness::near(double a, double b) const {
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  if (abs) return std::fabs(a - b) <= *abs;
  if (rel) return std::fabs(a - b) <= *rel * std::max(std::fabs(a), std::fabs(b));
  return a == b;
}

bool Closeness::equal(uint64_t a, uint64_t b) const {
  return a == b || (!bits() && near(std::bit_cast<double>(a), std::bit_cast<double>(b)));
}

std::string Closeness::text(uint64_t value) const {
  return bits() ? fmt::format("{:#018x}", value) : fmt::format("{:.9g}", std::bit_cast<double>(value));
}

Closeness read_closeness(const Value* value) {
  Closeness out;
  if (!value || !value->map()) return out;
  if (value->find("abs")) out.abs = read_number(*value, "abs", 0);
  if (value->find("rel")) out.rel = read_number(*value, "rel", 0);
  return out;
}

const Mark* newest_value(const RunFacts& facts, const std::string& name, int64_t step, int rank) {
  const Mark* found = nullptr;
  for (const Mark& mark : facts.marks)
    if (mark.what == "value" && mark.name == name && mark.number == step && (rank < 0 || mark.rank == rank) &&
        (!found || mark.attempt > found->attempt ||
         (mark.attempt == found->attempt && mark.time >= found->time)))
      found = &mark;
  return found;
}

std::string why_no_values(const RunFacts& facts) {
  if (facts.not_computed.empty()) return "";
  return "CUDA is a double, and kernels other than NCCL's computed nothing (" + facts.not_computed +
         "): values prove nothing";
}

int64_t last_step_of(const RunFacts& facts, const std::string& name) {
  int64_t step = -1;
  for (const Mark& mark : facts.marks)
    if (mark.what == "value" && mark.name == name) step = std::max(step, mark.number);
  return step;
}

ValueVerdict no_value_said(const RunFacts& facts, const std::string& name, int64_t step, int rank) {
  const std::string text = fmt::format("rank {} never reported {} at step {}", rank, name, step);
  const auto processes = processes_of(facts, rank);
  if (processes.empty()) return {Verdict::kUnknown, fmt::format("rank {} has no record", rank)};
  for (const ProcessView* process : processes)
    if (!whole_marks(*process)) return {Verdict::kUnknown, text + ", but its record is not whole"};
  if (facts.teardown_reason == "interrupted")
    return {Verdict::kUnknown, text + " before the run was interrupted"};
  return {Verdict::kFail, text};
}

}  // namespace rankfault
