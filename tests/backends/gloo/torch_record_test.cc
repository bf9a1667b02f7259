// torch_record_test: the contract with PyTorch on Gloo, whichever version there is: the preload shows both
// layers, and the record of an unmodified script counts the same calls as the script.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/backends/gloo/rank_job.h"

namespace rankfault::test {
namespace {

using testing::Each;

std::string script(const std::string& name) {
  const char* source = getenv("RANKFAULT_SOURCE_DIR");
  return std::string(source ? source : ".") + "/tests/ranks/torch/" + name;
}

class TorchRecord : public testing::Test {
 protected:
  void SetUp() override {
    python_ = torch_python();
    if (python_.empty()) GTEST_SKIP() << "no PyTorch with Gloo (RANKFAULT_PYTHON)";
  }
  RankJobEnd run(const std::string& name, std::vector<ArmedRequest> armed = {},
                 std::map<std::string, std::string> env = {}, std::vector<std::string> args = {}) const {
    std::vector<std::string> argv = {python_, script(name)};
    argv.insert(argv.end(), args.begin(), args.end());
    return run_ranks({.argv = argv, .ranks = 3, .env = std::move(env), .armed = std::move(armed)});
  }
  std::string python_;
};

std::map<uint8_t, uint8_t> hooks(const FlightRecord& record) {
  std::map<uint8_t, uint8_t> found;
  for (const rf_coverage& of : record.header.coverage)
    if (of.library == RF_LIB_C10D || of.library == RF_LIB_GLOO) found[of.library] = of.hook;
  return found;
}

const rf_comm& comm_of(const FlightRecord& record, const rf_record& r) { return record.comms.at(r.comm); }

// "all_reduce.world" -> n, for the calls that the user made.
std::map<std::string, long> calls_by_group(const FlightRecord& record) {
  std::map<std::string, long> found;
  for (const rf_record& r : record.records(RF_LIB_C10D)) {
    if (r.phase != RF_PHASE_ENTER || r.op == RF_OP_WAIT || r.comm == RF_NO_COMM) continue;
    std::string op = op_name(r.op);
    if (op == "reduce_scatter_block") op = "reduce_scatter";
    ++found[op + (comm_of(record, r).flags & RF_COMM_WORLD ? ".world" : ".low")];
  }
  return found;
}

long count_phase(const FlightRecord& record, uint8_t library, uint8_t phase) {
  long n = 0;
  for (const auto& lane : record.lanes)
    for (const rf_record& r : lane)
      n += r.phase == phase && (r.library == library || phase == RF_PHASE_COMPLETE);
  return n;
}

TEST_F(TorchRecord, CountsEveryOpOfBothGroupsAsTheScriptDoes) {
  const RankJobEnd end = run("all_ops.py");
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    EXPECT_EQ(hooks(record),
              (std::map<uint8_t, uint8_t>{{RF_LIB_C10D, RF_HOOK_PRELOAD}, {RF_LIB_GLOO, RF_HOOK_PRELOAD}}));
    EXPECT_EQ(calls_by_group(record), (std::map<std::string, long>(end.book.at(rank)["counts"])))
        << "rank " << rank;
    EXPECT_EQ(record.header.opaque, 0u);
    const long pending = count_phase(record, RF_LIB_C10D, RF_PHASE_ENQUEUE);
    EXPECT_EQ(count_phase(record, RF_LIB_C10D, RF_PHASE_COMPLETE), pending);
    for (const rf_comm& comm : record.comms) EXPECT_EQ(comm.entered, comm.completed);
  }
  EXPECT_EQ(end.records.at(0).comms[0].id, end.records.at(2).comms[0].id);
  ASSERT_EQ(end.records.at(1).comms.size(), 2u);
  EXPECT_EQ(end.records.at(0).comms[1].id, end.records.at(1).comms[1].id);
  EXPECT_EQ(end.records.at(2).comms.size(), 1u) << "rank 2 is not in the second group";
  EXPECT_THAT(end.records.at(1).members(end.records.at(1).comms[1]), testing::ElementsAre(0, 1));
}

// Ranks 0 and 1 of 3 are in the first group; all ranks call new_group.
TEST_F(TorchRecord, AGroupHasItsNumberItsSizeAndTheSeatOfItsRank) {
  const RankJobEnd end = run("all_ops.py");
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    std::vector<rf_record> made;
    for (const rf_record& r : record.records(RF_LIB_C10D))
      if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_COMM_CREATE) made.push_back(r);
    ASSERT_EQ(made.size(), rank == 2 ? 0u : 1u);
    if (rank == 2) continue;
    EXPECT_EQ(made[0].tag_or_result, 1);
    EXPECT_EQ(made[0].count, 2u);
    EXPECT_EQ(made[0].peer, rank);
  }
}

TEST_F(TorchRecord, AnExecutionBearsTheTagOfItsCall) {
  const RankJobEnd end = run("all_ops.py", {}, {{"RANK_STEPS", "1"}});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    std::map<uint64_t, uint16_t> called;
    for (const rf_record& r : record.records(RF_LIB_C10D))
      if (r.phase == RF_PHASE_ENQUEUE && r.comm == 0 && r.op != RF_OP_SEND && r.op != RF_OP_RECV)
        called[r.seq] = r.op;
    for (const rf_record& r : record.records(RF_LIB_GLOO)) {
      if (r.phase != RF_PHASE_ENTER || r.comm != 0) continue;
      EXPECT_TRUE(r.flags & RF_CALL_EXECUTION);
      ASSERT_TRUE(called.count(r.seq)) << op_name(r.op) << " " << r.seq;
      if (called[r.seq] == RF_OP_REDUCE_SCATTER_BLOCK)
        EXPECT_EQ(r.op, RF_OP_ALL_REDUCE);
      else
        EXPECT_EQ(op_name(r.op), std::string(op_name(called[r.seq])));
    }
  }
}

// Each pair of ranks agrees on its own lengths: rank 0 shares evenly with two ranks that do not. Lists, and
// lists of equal numbers, match both forms.
constexpr const char* kSharesOfAllForms = R"(
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, even = dist.get_rank(), [torch.zeros(6), torch.ones(6)]
if rank == 0: dist.all_to_all_single(*even)
if rank == 1: dist.all_to_all_single(torch.zeros(8), torch.ones(6), [2, 1, 5], [2, 1, 3])
if rank == 2: dist.all_to_all_single(torch.zeros(6), torch.ones(8), [2, 3, 1], [2, 5, 1])
if rank == 0: dist.all_to_all_single(*even)
if rank == 1: dist.all_to_all_single(*even, [2, 2, 2], [2, 2, 2])
if rank == 2:
    try: dist.all_to_all([torch.zeros(2) for _ in range(3)], [torch.ones(2) for _ in range(3)])
    except RuntimeError: dist.all_to_all_single(*even)  # Gloo takes lists in newer versions of PyTorch alone
dist.barrier()
dist.destroy_process_group()  # or an exit may race with the worker threads: docs/internals/gloo.md
)";

TEST_F(TorchRecord, AnAllToAllIsOneOpHoweverItIsShared) {
  const RankJobEnd end = run_ranks({.argv = {python_, "-c", kSharesOfAllForms}, .ranks = 3});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    std::vector<rf_record> calls;
    for (const rf_record& r : record.records(RF_LIB_C10D))
      if (r.phase == RF_PHASE_ENTER && r.op != RF_OP_WAIT && r.comm == 0) calls.push_back(r);
    ASSERT_EQ(calls.size(), 3u) << "rank " << rank;
    EXPECT_EQ(op_name(calls[0].op), std::string("all_to_all"));
    EXPECT_EQ((calls[0].flags & RF_CALL_RANK_LOCAL) != 0, rank != 0) << "rank " << rank;
    EXPECT_EQ(op_name(calls[1].op), std::string("all_to_all"));
    EXPECT_EQ(calls[1].flags & RF_CALL_RANK_LOCAL, 0) << "rank " << rank;
    EXPECT_EQ(calls[1].count, 2u) << "rank " << rank;
  }
}

// Two passes in a row (DDP has fewer buckets in the first one), an all_reduce of the program's own, a
// backward() that sums nothing, and a third pass.
constexpr const char* kPassesOfAutograd = R"(
import gc, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
layers = torch.nn.Sequential(*[torch.nn.Linear(100, 100) for _ in range(4)])
model = DistributedDataParallel(layers, bucket_cap_mb=0.08)
def backward(): model(torch.ones(2, 100)).sum().backward()
backward()
backward()
dist.all_reduce(torch.ones(1))
layers(torch.ones(2, 100)).sum().backward()
backward()
del model, layers
gc.collect()
dist.barrier()
dist.destroy_process_group()
)";

TEST_F(TorchRecord, MarksTheFirstAllReduceOfEachPassOfAutograd) {
  const RankJobEnd end = run_ranks({.argv = {python_, "-c", kPassesOfAutograd}, .ranks = 2});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  if (end.records.at(0).header.coverage[0].version < 20000)
    GTEST_SKIP() << "PyTorch 1.13 does not number its passes";
  for (const auto& [rank, record] : end.records) {
    std::string seen;
    for (const rf_record& r : record.records(RF_LIB_C10D))
      if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE)
        seen += r.flags & RF_CALL_NEW_PASS ? "|" : r.count == 1 ? "own" : ".";
    EXPECT_THAT(seen, testing::MatchesRegex("[|][.]*[|][.]+own[|][.]+")) << "rank " << rank;
  }
}

// Counts of the all-reduces that a process called, in order.
std::vector<uint64_t> all_reduces(const FlightRecord& record) {
  std::vector<uint64_t> counts;
  for (const rf_record& r : record.records(RF_LIB_C10D))
    if (r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE) counts.push_back(r.count);
  return counts;
}

// The script reduces one gradient a step and, at the end of the fifth, a metric of one element.
TEST_F(TorchRecord, ASkippedCallIsNeverMadeAndItsWaiterGoesOn) {
  const RankJobEnd end = run("ddp.py", {{.rank = 1, .nth = 5}}, {}, {"--steps=6", "--timeout=3"});
  const std::vector<uint64_t> full = all_reduces(end.records.at(0)), skipper = all_reduces(end.records.at(1));
  ASSERT_GE(full.size(), 5u);
  EXPECT_GT(full[4], 1u);
  ASSERT_GE(skipper.size(), 5u) << end.out.at(1);
  EXPECT_EQ(skipper[4], 1u) << "after the skipped gradient comes the metric";
  uint64_t last = 0;  // no gap: the skipped call took no tag
  for (const rf_record& r : end.records.at(1).records(RF_LIB_C10D))
    if (r.phase == RF_PHASE_ENQUEUE) {
      EXPECT_EQ(r.seq, ++last);
    }
  for (const rf_record& r :
       end.records.at(1).records(RF_LIB_GLOO))  // + 1: the process may end before ENQUEUE
    EXPECT_LE(r.seq, last + 1) << "the skipped one ran";
  EXPECT_NE(end.status[0], 0) << said_by_failed(end);
}

TEST_F(TorchRecord, ASkippedCallLeavesItsOutputAlone) {
  std::vector<ArmedRequest> armed;
  for (const unsigned op : {RF_OP_ALL_GATHER, RF_OP_GATHER, RF_OP_SCATTER, RF_OP_ALL_TO_ALL, RF_OP_ALL_REDUCE,
                            RF_OP_BROADCAST, RF_OP_REDUCE, RF_OP_SEND, RF_OP_RECV, RF_OP_BARRIER})
    armed.push_back({.rank = 0, .op = op});
  const RankJobEnd end =
      run_ranks({.argv = {python_, script("skip_outputs.py")}, .ranks = 2, .armed = armed});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [op, outputs] : end.book.at(0)["untouched"].items())
    EXPECT_EQ(outputs, Json({true, false})) << op << ": first skipped, second made";
  const auto entered = end.records.at(0).entered(RF_LIB_C10D);
  EXPECT_EQ(entered.count("send") + entered.count("recv") + entered.count("all_reduce"), 0u);
  EXPECT_EQ(entered.at("all_gather"), 1);
  EXPECT_EQ(end.records.at(0).comms[0].entered, 1u) << "the last barrier";
}

TEST_F(TorchRecord, AFailedCallOfTheStoreThrows) {
  const std::string program =
      "import torch.distributed as d\n"
      "store = d.HashStore()\n"
      "store.set('key', 'value')\n"
      "try:\n  print(store.get('key'))\n"
      "except RuntimeError as error:\n  print(error)";
  const RankJobEnd end = run_ranks({.argv = {python_, "-c", program},
                                    .ranks = 1,
                                    .armed = {{.rank = 0, .op = RF_OP_STORE, .verb = RF_VERB_FAIL}}});
  EXPECT_THAT(end.out.at(0), testing::HasSubstr("store get timeout (injected)"));
}

TEST_F(TorchRecord, TheScriptPrintsTheSameWithoutTheAgent) {
  const RankJob with{.argv = {python_, script("ddp.py")}, .ranks = 2};
  RankJob without = with;
  without.agent = false;
  const RankJobEnd seen = run_ranks(with), alone = run_ranks(without);
  ASSERT_THAT(seen.status, Each(0)) << seen.out.at(0);
  EXPECT_EQ(seen.book, alone.book);
}

}  // namespace
}  // namespace rankfault::test
