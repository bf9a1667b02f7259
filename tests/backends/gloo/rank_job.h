// rank_job: starts the ranks of one job by hand, as the local launcher would, with the agent preloaded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "tests/backends/flight_record.h"

namespace rankfault::test {

// One action, granted beforehand, on the nth call of an op on one rank; -1: on each. With `every` it also
// fires at each every-th further call.
struct ArmedRequest {
  int rank = 0;
  unsigned op = RF_OP_ALL_REDUCE, verb = RF_VERB_SKIP;
  unsigned long nth = 1, arg0 = 0, arg1 = 0, every = 0;
  unsigned library = RF_LIB_NONE;
};

struct RankJob {
  std::vector<std::string> argv;
  int ranks = 3;
  bool agent = true;
  std::map<std::string, std::string> env = {};
  std::vector<ArmedRequest> armed = {};
};

struct RankJobEnd {
  std::vector<int> status;                // exit code, or 128 + signal, by rank
  std::map<int, std::string> out;         // stdout and stderr together, by rank
  std::map<int, Json> book;               // what each rank printed about its own calls
  std::map<int, FlightRecord> records;    // by rank
  std::vector<rf_action_record> actions;  // of all ranks
};

RankJobEnd run_ranks(const RankJob&);
std::string said_by_failed(const RankJobEnd&);  // the output of each rank whose status is not 0
std::string program(const std::string& name);   // in the build's bin/
std::string torch_python();                     // an interpreter with a PyTorch that is recorded, or ""

}  // namespace rankfault::test
