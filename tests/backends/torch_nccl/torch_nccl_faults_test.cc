// torch_nccl_faults_test: faults at the calls of c10d over NCCL. PyTorch's own books and its own analyser say
// what they say of a script that leaves the call out.
#include <gmock/gmock.h>

#include <set>

#include "tests/backends/gloo/rank_job.h"
#include "tests/backends/torch_nccl/over_double.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr unsigned kForms[] = {RF_OP_ALL_REDUCE,     RF_OP_BROADCAST,  RF_OP_REDUCE, RF_OP_ALL_GATHER,
                               RF_OP_REDUCE_SCATTER, RF_OP_ALL_TO_ALL, RF_OP_GATHER, RF_OP_SCATTER,
                               RF_OP_BARRIER,        RF_OP_SEND,       RF_OP_RECV};

class TorchNcclFaults : public testing::Test {
 protected:
  void SetUp() override {
    python_ = torch_nccl_python();
    if (python_.empty()) GTEST_SKIP() << kNoTorchNccl;
  }
  static std::string own(const std::string& name) { return source_dir() + "/tests/ranks/torch_nccl/" + name; }
  RankJobEnd run(const std::vector<std::string>& script, std::vector<ArmedRequest> armed,
                 const std::map<std::string, std::string>& more = {}) const {
    std::vector<std::string> argv = {python_};
    argv.insert(argv.end(), script.begin(), script.end());
    auto env = over_double(scratch_.path());
    for (const auto& [name, value] : more) env[name] = value;
    return run_ranks({.argv = argv, .ranks = 2, .env = env, .armed = std::move(armed)});
  }
  std::string python_;
  Scratch scratch_;
};

TEST_F(TorchNcclFaults, ASkippedCallIsForPyTorchOneThatTheScriptLeftOut) {
  const Scratch dumps;
  const RankJobEnd skipped =
      run({own("one_sum_less.py")}, {{.rank = 1, .nth = 4}}, {{"DUMPS", dumps.path()}});
  const RankJobEnd left_out =
      run({own("one_sum_less.py")}, {}, {{"DUMPS", dumps.path()}, {"LEAVE_OUT", "1"}});
  ASSERT_THAT(skipped.status, Each(0)) << said_by_failed(skipped);
  ASSERT_THAT(left_out.status, Each(0)) << said_by_failed(left_out);
  EXPECT_EQ(skipped.book, left_out.book);
  EXPECT_EQ(skipped.book.at(1)["sequence"], 5);
  EXPECT_EQ(skipped.book.at(1)["dump"]["entries"].size(), 5u);
}

constexpr const char* kNoAnalyser = "No module named 'torch.distributed.flight_recorder'";

// What PyTorch's analyser says of the dumps of a folder.
std::string analysed(const std::string& python, const Scratch& dumps) {
  const std::string command = "LD_LIBRARY_PATH=" + newest_nccl() + ":" + double_folder() + ":" +
                              double_folder() + "/torch " + python +
                              " -m torch.distributed.flight_recorder.fr_trace " + dumps.path() +
                              " -p dump_ > " + dumps.path() + "/said 2>&1";
  const bool succeeded = std::system(command.c_str()) == 0;
  const std::string said = read_file(dumps.path() + "/said");
  return succeeded || said.find(kNoAnalyser) != said.npos ? said : "it failed: " + said;
}

TEST_F(TorchNcclFaults, PyTorchsAnalyserNamesTheRankOfASkippedCall) {
  const Scratch skipped, left_out;
  run({own("one_sum_less.py")}, {{.rank = 1, .nth = 4}}, {{"DUMPS", skipped.path()}});
  const std::string analysis = analysed(python_, skipped);
  if (analysis.find(kNoAnalyser) != analysis.npos)
    GTEST_SKIP() << "PyTorch 2.9 has no analyser; that of ./dev torch-nccl has one";
  EXPECT_THAT(analysis, HasSubstr("missing ranks: {1}"));
  run({own("one_sum_less.py")}, {}, {{"DUMPS", left_out.path()}, {"LEAVE_OUT", "1"}});
  EXPECT_THAT(analysed(python_, left_out), HasSubstr("missing ranks: {1}"));
}

TEST_F(TorchNcclFaults, ACallSkippedAtNcclIsForPyTorchMade) {
  const Scratch dumps;
  const RankJobEnd end = run({own("one_sum_less.py")}, {{.rank = 1, .nth = 4, .library = RF_LIB_NCCL}},
                             {{"DUMPS", dumps.path()}});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  EXPECT_EQ(end.book.at(1)["sequence"], 6);
  EXPECT_EQ(end.book.at(1)["dump"]["entries"].size(), 6u);
  EXPECT_EQ(end.records.at(1).entered(RF_LIB_NCCL).at("all_reduce"), 5);
}

// Both ranks skip, so nobody waits.
TEST_F(TorchNcclFaults, EveryFormCanBeSkippedAndLeavesOutputAndBooksAlone) {
  std::vector<ArmedRequest> armed;
  for (const unsigned op : kForms) armed.push_back({.rank = -1, .op = op, .nth = 2, .every = 2});
  const RankJobEnd end = run({own("all_forms.py")}, armed, {{"ASK_FUTURE", "1"}});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, book] : end.book) {
    EXPECT_GE(book["seen"].size(), 20u);
    for (const auto& [form, times] : book["seen"].items()) {
      EXPECT_GT(times[0][2], 0) << form << " was made";
      EXPECT_EQ(times[1], Json({true, 0, 0})) << form << " was skipped on rank " << rank;
    }
    EXPECT_EQ(book["future"], Json({1, 4, true, true, 1})) << "tensors, elements, done, completed, result";
  }
  for (const rf_action_record& action : end.actions) {
    EXPECT_EQ(action.effect, uint32_t{RF_EFFECT_DONE});
    EXPECT_EQ(action.library, RF_LIB_C10D);
  }
}

TEST_F(TorchNcclFaults, NothingChangesWithoutAnAction) {
  const RankJobEnd end = run({own("all_forms.py")}, {});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  RankJob alone{.argv = {python_, own("all_forms.py")},
                .ranks = 2,
                .agent = false,
                .env = over_double(scratch_.path())};
  EXPECT_EQ(end.book, run_ranks(alone).book);
  const rf_header& header = end.records.at(1).header;
  EXPECT_EQ(header.rank, 1);
  EXPECT_EQ(header.world_size, 2);
  EXPECT_EQ(header.generation, 0u);
}

// One all_reduce after the failed one: PyTorch's exception ends no rank by itself.
constexpr const char* kCatches = R"(
import json, os, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
numbers = torch.ones(4).cuda()
said = ""
for _ in range(3):
    try:
        dist.barrier() if os.environ.get("BARRIER") else dist.all_reduce(numbers)
    except dist.DistBackendError as error:
        said = str(error).splitlines()[0]
print(json.dumps({"rank": rank, "said": said}), flush=True)
os._exit(0)
)";

TEST_F(TorchNcclFaults, AFailedCallThrowsPyTorchsOwnException) {
  for (const bool barrier : {false, true}) {
    std::vector<ArmedRequest> armed;
    for (const int rank : {0, 1})
      armed.push_back({.rank = rank,
                       .op = barrier ? unsigned{RF_OP_BARRIER} : unsigned{RF_OP_ALL_REDUCE},
                       .verb = RF_VERB_FAIL,
                       .nth = 2,
                       .arg0 = 2});
    const RankJobEnd end = run({"-c", kCatches}, armed, {{barrier ? "BARRIER" : "SUM", "1"}});
    ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
    for (const auto& [rank, book] : end.book)
      EXPECT_THAT(book["said"].get<std::string>(), HasSubstr("unhandled system error"))
          << "ncclSystemError, rank " << rank;
    EXPECT_EQ(end.actions.size(), 2u);
  }
}

// DDP asks the work of each bucket for its future.
constexpr const char* kTrains = R"(
import json, os, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
model = DistributedDataParallel(torch.nn.Linear(8, 8).cuda())
for _ in range(4):
    model(torch.ones(2, 8).cuda()).sum().backward()
torch.cuda.synchronize()
print(json.dumps({"rank": rank, "entries": dist.group.WORLD._get_backend(torch.device("cuda"))._get_sequence_number_for_group()}))
dist.destroy_process_group()
)";

TEST_F(TorchNcclFaults, DdpGoesOnAfterASkippedBucket) {
  const RankJobEnd without = run({"-c", kTrains}, {});
  const RankJobEnd end = run({"-c", kTrains}, {{.rank = 0, .nth = 2}, {.rank = 1, .nth = 2}});
  ASSERT_THAT(without.status, Each(0)) << said_by_failed(without);
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  EXPECT_EQ(end.book.at(0)["entries"].get<int>() + 1, without.book.at(0)["entries"].get<int>());
  EXPECT_EQ(end.actions.size(), 2u);
}

TEST_F(TorchNcclFaults, TheFirstAllReduceOfAPassOfAutogradIsMarked) {
  const RankJobEnd end = run({"-c", kTrains}, {});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  int passes = 0;
  for (const rf_record& r : end.records.at(0).records(RF_LIB_NCCL))
    passes += r.phase == RF_PHASE_ENTER && r.op == RF_OP_ALL_REDUCE && (r.flags & RF_CALL_NEW_PASS);
  EXPECT_EQ(passes, 4);
}

TEST_F(TorchNcclFaults, WithoutItsModuleACallIsMadeAndTheAgentSaysThatItIsUnable) {
  for (const char* decoder : {"torch_gloo.so", "nccl.so"})
    std::filesystem::create_symlink(build_dir() + "/lib/decoders/" + decoder, scratch_.file(decoder));
  const Scratch dumps;
  const RankJobEnd end = run({own("all_forms.py")}, {{.rank = 0, .nth = 2}, {.rank = 1, .nth = 2}},
                             {{"RANKFAULT_DECODERS", scratch_.path()}});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  ASSERT_EQ(end.actions.size(), 2u);
  for (const rf_action_record& action : end.actions) EXPECT_EQ(action.effect, uint32_t{RF_EFFECT_UNABLE});
  EXPECT_EQ(end.book.at(0)["seen"]["all_reduce"][1], end.book.at(0)["seen"]["all_reduce"][0]);
}

// Groups of one and of two ranks, of which the calls of the second are skipped by its name.
constexpr const char* kGroups = R"(
import json, os, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
alone = [dist.new_group([0]), dist.new_group([1])][rank]
pair = dist.new_group([0, 1])
for group in (dist.group.WORLD, alone, pair):
    dist.all_reduce(torch.ones(4).cuda(), group=group)
torch.cuda.synchronize()
print(json.dumps({"rank": rank}), flush=True)
dist.destroy_process_group()
)";

TEST_F(TorchNcclFaults, NcclsCommunicatorsHaveTheNamesOfTheirGroups) {
  const RankJobEnd end = run({"-c", kGroups}, {});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const int rank : {0, 1}) {
    std::vector<std::string> names;
    for (const rf_comm& comm : end.records.at(rank).comms)
      names.push_back(end.records.at(rank).name(comm.name));
    EXPECT_EQ(names, (std::vector<std::string>{"world", rank ? "group2" : "group1", "group3"}));
  }
}

}  // namespace
}  // namespace rankfault::test
