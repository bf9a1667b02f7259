// NodeGuardian: runs on each node of a job of several hosts, beside its ranks. It keeps their flight records
// on the node, sees how they end, and tells the tool over one connection. It starts nothing and ends nothing.
//
// What a rank does goes to the tool as the change of its state, ten times a second while it moves; the
// records of its calls when the tool asks. If the connection is lost, the guardian goes on and connects
// again.
//
// Its node's launcher may kill it as soon as the last task has ended. So it holds the end of that task back
// until the tool has all its records, and removes its folder then. It ends when the tool says that the job is
// over, or when its node has had no task and no tool for a while; in the latter case the folder stays.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/live/exit_collector.h"
#include "harness/node_guardian/node_faults.h"
#include "harness/node_guardian/tasks.h"
#include "harness/nodes/connection.h"
#include "harness/nodes/flight_copy.h"
#include "harness/observe/observer.h"

namespace rankfault {

struct NodeGuardianOptions {
  std::string dir;  // of the node; has "records"
  std::string host;
  int port = 0;  // of the tool
  RunKey key;
  std::string node;  // its name
  int root = 0;      // the parent of all tasks of the node
  int tasks = 0;     // how many the launcher starts on the node; 0: not known
  const std::atomic<int>* interrupted = nullptr;
};

class NodeGuardian {
 public:
  static Result<std::unique_ptr<NodeGuardian>> start(NodeGuardianOptions);
  void run();  // until it ends, see above

 private:
  struct Sent {
    FlightCopy copy;
    uint32_t maps_of = 0;       // the modules_version whose maps were sent
    uint64_t python_bytes = 0;  // of its .python file
  };
  NodeGuardian(NodeGuardianOptions options, Journal journal);
  bool is_over(Instant now);
  void wait();
  void connect(Instant now);
  void take_messages(Instant now);
  void answer_sync(uint64_t number);
  void take_tasks();
  void scan();
  void take_ends();
  void send_states();
  void send_process(const ProcessId&, Sent&, FlightCopy::Take);
  void send_beside(const ProcessId&, Sent&);
  void send_facts();
  void answer_tasks();
  void remove_folder();
  Status take_plan();
  void send_lines();
  void send(NodeMessage, const std::string& payload);
  std::string record_of(const ProcessId& id) const {
    return options_.dir + "/records/" + id.to_string() + ".ring";
  }

  NodeGuardianOptions options_;
  std::optional<Tasks> tasks_;
  Journal journal_;
  Promptness promptness_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<NodeFaults> faults_;  // null: nothing acts on the ranks
  ExitCollector ends_;
  std::unique_ptr<Connection> tool_;  // null: not connected
  std::map<ProcessId, Sent> sent_;
  std::vector<TaskMessage> told_tasks_;  // told again after a new connection
  std::vector<RankEnd> told_ends_;
  uint64_t lines_sent_ = 0, journal_bytes_ = 0;  // of its journal
  int begun_ = 0;                                // tasks
  Instant next_states_, next_scan_, next_connect_, idle_since_;
  Instant heard_;                                     // the tool, which pings twice a second
  uint64_t asked_ = 0, said_ = 0, heard_number_ = 0;  // said_: the question that has no answer yet; 0: none
  bool job_over_ = false;
};

}  // namespace rankfault
