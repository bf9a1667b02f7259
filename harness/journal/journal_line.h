// journal_line: one line of a journal as a type, and the lines of one kind.
#pragma once

#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/journal/cleanup_events.h"
#include "harness/journal/fault_events.h"
#include "harness/journal/finding_events.h"
#include "harness/journal/run_events.h"

namespace rankfault {

// In the order of docs/reference/journal.md. std::monostate: an event that this version does not know.
using AnyEvent =
    std::variant<std::monostate, events::RunBegin, events::Mounted, events::AttemptBegin, events::Spawned,
                 events::Node, events::Process, events::RankEnd, events::LauncherEnd, events::NoRank,
                 events::LauncherHung, events::Starved, events::NotComputed, events::History,
                 events::AttemptEnd, events::LogMarker, events::Teardown, events::RunEnd, events::FaultAsked,
                 events::FaultIntent, events::FaultAnswered, events::FaultDone, events::FaultEffect,
                 events::Look, events::Finding, events::Unsafe, events::Remark, events::Evidence,
                 events::Leftover, events::UnclearLeftover, events::CensusUnanswered, events::Census,
                 events::Check, events::GuardianStopped, events::Cleanup>;

struct JournalLine {
  uint64_t n = 0;  // its number, from 1
  Instant t;       // when it was written
  AnyEvent event;

  template <typename E>
  const E* as() const {
    return std::get_if<E>(&event);
  }
};

using JournalLines = std::vector<JournalLine>;

// A line as it stands in the file. Refused: it has no n, t or ev, or a key of its event has another type.
Result<JournalLine> journal_line(const Json&);
Json to_json(const JournalLine&);

// One line of the kind E, or none. It points into the journal.
template <typename E>
struct LineOf {
  uint64_t n = 0;
  Instant t;
  const E* event = nullptr;

  explicit operator bool() const { return event != nullptr; }
  const E* operator->() const { return event; }
};

// All lines of the kind E for which `wanted` holds, in their order.
template <typename E>
std::vector<LineOf<E>> lines_of(const JournalLines& lines, auto wanted) {
  std::vector<LineOf<E>> out;
  for (const JournalLine& line : lines)
    if (const E* event = line.as<E>(); event && wanted(*event)) out.push_back({line.n, line.t, event});
  return out;
}

template <typename E>
std::vector<LineOf<E>> lines_of(const JournalLines& lines) {
  return lines_of<E>(lines, [](const E&) { return true; });
}

template <typename E>
LineOf<E> first_line(const JournalLines& lines, auto wanted) {
  for (const JournalLine& line : lines)
    if (const E* event = line.as<E>(); event && wanted(*event)) return {line.n, line.t, event};
  return {};
}

// Their numbers.
template <typename E>
std::vector<uint64_t> numbers_of(const std::vector<LineOf<E>>& lines) {
  std::vector<uint64_t> out;
  for (const LineOf<E>& line : lines) out.push_back(line.n);
  return out;
}

// What documents a kind of line: its name and texts, and its keys with theirs.
struct EventKey {
  const char* name;
  const char* meaning;  // "": the name says it
};
struct EventPage {
  EventDoc doc;
  std::vector<EventKey> keys;
};
std::vector<EventPage> all_events();

}  // namespace rankfault
