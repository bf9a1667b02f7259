// stream_entries: the incomplete operations of NCCL in the order of their streams, and what each of them
// waits for.
//
// Operations of one stream run in the order of the calls; the calls of one group run together. So an
// operation runs on a rank only after all operations before it on that stream, and completes only with the
// parts of the members that it needs. This depends only on the order of the calls, not on the operations that
// were seen complete. Operations of an open group are on no stream yet. Operations that several threads put
// on one stream have no known order.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/diagnose/finding.h"
#include "harness/diagnose/messages/message_order.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

struct StreamEntry {
  const CommGroup* group;
  const Member* member;
  const Call* call;
  std::vector<size_t> before;  // the entries directly before it on its stream: one, or those of a group
};

// Why an entry waits for another entry of member `at`: the other entry is before the part of `at`, or `at`
// has not made its part and is in a host wait for that entry.
struct StreamStep {
  const StreamEntry* entry = nullptr;
  const Member* at = nullptr;
  const Call* part = nullptr;  // of `at`; null: not made yet
  const StreamEntry* before = nullptr;
};

class StreamEntries {
 public:
  // Takes the entries of live processes that were made before `until`.
  StreamEntries(const JobView&, Instant until);

  const std::vector<StreamEntry>& all() const { return entries_; }
  const StreamEntry* of(const Call*) const;
  std::vector<StreamStep> steps_from(const StreamEntry&) const;
  // Whether a member put its part of `first` before its part of `second`, an entry of another communicator.
  bool has_in_order(const Member&, const Call& first, const StreamEntry& second) const;

 private:
  void add(const JobView&, const Process&, Instant until);
  void step_by_part(const StreamEntry&, const Member& at, const Call* part, std::vector<StreamStep>&) const;
  void step_by_wait(const StreamEntry&, const Member& at, std::vector<StreamStep>&) const;

  // Returns the call of the partner whose message a receive takes; null: not made yet. Returns nothing if the
  // order of the messages is unknown.
  std::optional<const Call*> send_for(const Call& receive, const Member& me, const Member& partner) const;

  std::vector<StreamEntry> entries_;
  mutable MessageOrder order_;
  std::unordered_map<const Call*, size_t> at_;
};

}  // namespace rankfault
