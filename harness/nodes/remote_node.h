// RemoteNode: one node of a job, as the tool knows it: its connection, its clock, the copies of its flight
// records, and what /proc says there.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/journal/journal_line.h"
#include "harness/nodes/clock_offset.h"
#include "harness/nodes/connection.h"
#include "harness/nodes/flight_mirror.h"
#include "harness/nodes/node_messages.h"
#include "harness/observe/timeline.h"

namespace rankfault {

class RemoteNode {
 public:
  // `records`: the folder for the copies.
  RemoteNode(Connection connection, std::string records, Instant now)
      : connection_(std::move(connection)), records_(std::move(records)), heard_(now) {}

  Connection& connection() { return connection_; }
  const Connection& connection() const { return connection_; }
  bool has_said_hello() const { return !hello_.node.empty(); }
  const HelloMessage& hello() const { return hello_; }
  // The guardian connects again after its connection was lost: the clock and the copies stay.
  void replace_connection(RemoteNode& newer);

  // Reads what has come. An error: the node says what no guardian says, and is not listened to any more.
  Status receive(Instant now);
  void ping(Instant now);  // if it is time for it
  void ask(uint64_t number);
  bool has_answered(uint64_t number) const { return answered_ >= number; }
  Instant heard() const { return heard_; }
  Instant next_ping() const { return next_ping_; }
  const ClockOffset& clock() const { return clock_; }

  // What was done to ranks there: lines of the node's journal, on the tool's clock.
  std::vector<JournalLine> take_lines() { return std::exchange(lines_, {}); }
  std::vector<RankEnd> take_ends() { return std::exchange(ends_, {}); }  // on the tool's clock

  bool all_tasks_ended() const;
  // All its tasks had ended when its guardian closed the connection: it has said all.
  bool has_left() const { return connection_.lost() && all_tasks_ended(); }
  bool has(const ProcessId& process) const { return copies_.count(process) != 0; }
  bool is_of_one_instant(const ProcessId&) const;
  bool has_unread_end(const ProcessId&) const;  // take_ends() will return it
  void add_facts(ProcessView&) const;
  std::string maps_of(const ProcessId&) const;  // "": none came

  bool is_silent = false;  // RemoteNodes says so

 private:
  struct Copy {
    FlightMirror mirror;
    FactsMessage facts;
    bool is_of_one_instant = false, has_maps = false;
  };
  Status take(const WireFrame&, Instant now);
  Status take_early(Instant now);
  Status take_pong(const std::string& payload, Instant now);
  Status take_hello(const std::string& payload);
  Status take_flight(const std::string& payload);
  Status take_beside(const std::string& payload);
  Status take_facts(const std::string& payload);
  Status take_end(const std::string& payload);
  Status take_task(const std::string& payload);
  Status take_line(const std::string& payload);
  Result<Copy*> copy_of(const std::string& name);

  Connection connection_;
  std::string records_;
  HelloMessage hello_;
  ClockOffset clock_;
  Instant heard_, next_ping_;
  uint64_t answered_ = 0;
  std::deque<WireFrame> early_;  // came before the clock was known
  std::map<ProcessId, Copy> copies_;
  std::map<std::pair<int, uint64_t>, bool> ended_;  // the tasks, by pid and start
  std::vector<RankEnd> ends_;
  std::vector<JournalLine> lines_;
};

}  // namespace rankfault
