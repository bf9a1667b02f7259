// ParallelJob: a job of any size in 3-D parallel groups (tensor x pipeline x data) with one defect, and what
// each of its ranks did. synthetic_dumps and synthetic_records write what such a job leaves.
//
// The job is simulated. Each rank enqueues its calls in the order of its program, with at most `ahead` of
// them incomplete. A call completes when every member of its group has enqueued it and all earlier calls of
// that rank are complete. With `ahead` = 1 the calls are blocking.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rankfault::testing {

struct SyntheticJob {
  int tensor = 2, pipeline = 2, data = 2;
  int steps = 20;   // of about 8 calls each
  int ahead = 12;   // calls a host may have enqueued and not complete
  int kept = 2000;  // entries in a recorder's ring
  bool only_active = false;
  bool host_calls = false;  // a send needs no peer; where two calls of one place differ, no rank continues

  enum class Broken {
    kNothing,
    kHostStuck,    // stops enqueuing in the middle of the step
    kDeviceStuck,  // does not see its own work complete; other ranks see theirs complete for a while
    kSkipped,      // leaves out one all-reduce of its data group, and continues
    kOtherSize,    // makes one all-reduce of another size
    kNoDump,       // host stuck, and its dump is missing
    kTeardown,     // ended its calls early, and its dump is empty
    kExtra,        // makes one reduce-scatter of its data group twice
    kOtherOrder,   // makes the all-reduce of all ranks before the calls of its data group
    kSizeOfAll,    // makes one all-reduce of all ranks with another size: every rank is in it
    kWedged,       // not a rank's fault: one all-reduce of all ranks never completes
  } broken = Broken::kNothing;
  std::vector<int> culprits;
  int at_step = 10;
  std::vector<int> lost_dumps;  // of healthy ranks
  int64_t clock_skew_ns = 0;    // the clock of odd ranks is ahead by this; used by records only

  int ranks() const { return tensor * pipeline * data; }
  bool is_culprit(int rank) const;
  bool is_lost(int rank) const;
};
const char* name_of(SyntheticJob::Broken);

class ParallelJob {
 public:
  struct Group {
    std::string name, desc;  // desc: default_pg, TENSOR_PARALLEL, DATA_PARALLEL, PIPELINE_PARALLEL
    std::vector<int> ranks;
  };
  struct Planned {  // one call of a rank's program
    size_t group;
    const char* op;  // "all_reduce", "_reduce_scatter_base", "_all_gather_base", "send", "recv"
    int peer = -1;   // in the group
    int64_t size = 1024;
    int step = 0;
  };
  struct Made {  // the call of the program at the same place
    int64_t seq = 0, time = 0, completed_at = 0;
    bool completed = false;
  };

  explicit ParallelJob(const SyntheticJob&);

  const SyntheticJob& job() const { return job_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::vector<size_t> groups_of(int rank) const;  // sorted
  const std::vector<Planned>& program(int rank) const { return ranks_[static_cast<size_t>(rank)].program; }
  const std::vector<Made>& made(int rank) const { return ranks_[static_cast<size_t>(rank)].made; }
  int64_t now() const { return now_; }

 private:
  struct Rank {
    std::vector<Planned> program;
    size_t next = 0, complete = 0;                    // of its own calls, in order
    std::map<size_t, int64_t> collectives, messages;  // counts by group
    std::vector<Made> made;
    size_t stuck_from = ~size_t{0};  // its device: what it made from here on is never seen complete
  };
  struct Came {  // to one place of a group's order
    size_t count = 0;
    const char* op = nullptr;
    int64_t size = 0;
    bool differ = false;
  };
  int rank_at(int t, int p, int d) const { return t + job_.tensor * (d + job_.data * p); }
  void add_group(const std::string& desc, std::vector<int> ranks);
  void make_groups();
  const std::vector<size_t>& groups(int rank, const char* desc) {
    return groups_of_[static_cast<size_t>(rank)][desc];
  }
  void plan(int rank);
  void break_it(int rank);
  bool all_came(const Planned&, const Made&) const;
  bool enqueue(int rank);
  bool complete(int rank);
  void run();

  SyntheticJob job_;
  std::vector<Group> groups_;
  std::vector<std::vector<Came>> came_;  // by group and seq
  std::vector<std::map<std::string, std::vector<size_t>>> groups_of_;
  std::vector<Rank> ranks_;
  int64_t now_ = 1'700'000'000'000'000'000;
};

// The ranks of "3,5"; empty for "-".
std::vector<int> ranks_in(const char* text);

}  // namespace rankfault::testing
