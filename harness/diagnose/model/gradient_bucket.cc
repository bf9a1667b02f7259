#include "harness/diagnose/model/gradient_bucket.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnose/model/words.h"
#include "harness/observe/python_frames.h"

namespace rankfault {
namespace {

using Buckets = std::vector<const Call*>;

bool is_bucket(const Member& m, const Call& c) {
  return c.op() == RF_OP_ALL_REDUCE && call_site_of(*m.process, c).starts_with(kInBackward);
}

bool begins_a_pass(const Call* c) { return c->flags() & RF_CALL_NEW_PASS; }

// The buckets of the pass that begins at this index.
Buckets buckets_of_pass(const Member& m, size_t begin) {
  Buckets buckets;
  for (size_t i = begin; i < m.calls.size() && (i == begin || !begins_a_pass(m.calls[i])); ++i)
    if (is_bucket(m, *m.calls[i])) buckets.push_back(m.calls[i]);
  return buckets;
}

// Whether a pass made the same calls, and perhaps more.
bool continues(const Buckets& longer, const Buckets& part) {
  return longer.size() >= part.size() &&
         std::equal(part.begin(), part.end(), longer.begin(),
                    [](const Call* a, const Call* b) { return a->count() == b->count(); });
}

// The begin of the last pass before this index, or the index itself: none.
size_t pass_before(const Member& m, size_t index) {
  for (size_t i = index; i-- > 0;)
    if (begins_a_pass(m.calls[i])) return i;
  return index;
}

}  // namespace

std::string gradient_bucket_text(const Member& m, const Call& call) {
  if (!is_bucket(m, call)) return "";
  const auto own = std::find(m.calls.begin(), m.calls.end(), &call);
  if (own == m.calls.end()) return "";
  const auto at = static_cast<size_t>(own - m.calls.begin());
  const size_t begin = begins_a_pass(&call) ? at : pass_before(m, at);
  if (begin == at && !begins_a_pass(&call)) return "";
  const Buckets buckets = buckets_of_pass(m, begin);
  const auto number = std::find(buckets.begin(), buckets.end(), &call) - buckets.begin() + 1;
  const size_t before = pass_before(m, begin);
  const Buckets earlier = before == begin ? Buckets() : buckets_of_pass(m, before);
  return continues(earlier, buckets) ? fmt::format("DDP gradient bucket {} of {}", number, earlier.size())
                                     : fmt::format("DDP gradient bucket {}", number);
}

}  // namespace rankfault
