#include "harness/facts/marks.h"

#include <algorithm>

#include "harness/observe/library_traits.h"

namespace rankfault {
namespace {

Mark mark_of(const ProcessView& process, const rf_record& record) {
  Mark mark;
  mark.what = op_text(record.op);
  mark.rank = process.rank;
  mark.attempt = process.attempt;
  mark.time = instant_of(record.time_ns);
  mark.number = static_cast<int64_t>(record.count);
  mark.value = record.where;
  const auto name = process.name_at.find(static_cast<uint32_t>(record.tag_or_result));
  if (name != process.name_at.end()) mark.name = name->second;
  return mark;
}

}  // namespace

std::vector<Mark> marks_of(const Timeline& timeline) {
  std::vector<Mark> marks;
  for (const ProcessView& process : timeline.processes) {
    if (process.helper) continue;  // a helper is not a rank of the job, whatever it announces
    for (const Event& event : process.events().value_or(std::vector<Event>{}))
      if (event.record.phase == RF_PHASE_EVENT && traits_of(event.record.library).is_of_marks)
        marks.push_back(mark_of(process, event.record));
  }
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.time < b.time; });
  return marks;
}

}  // namespace rankfault
