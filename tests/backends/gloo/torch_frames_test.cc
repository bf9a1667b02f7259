// torch_frames_test: the Python frames in the record of a PyTorch job are those that PyTorch's own Flight
// Recorder has for the same calls.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "tests/backends/gloo/python_calls.h"
#include "tests/backends/gloo/rank_job.h"

namespace rankfault::test {
namespace {

using testing::Each;

// The calls of each communicator, in its order.
std::map<uint32_t, std::vector<rf_record>> calls_by_comm(const FlightRecord& record) {
  std::map<uint32_t, std::vector<rf_record>> calls;
  for (const rf_record& r : record.records(RF_LIB_C10D))
    if (r.phase == RF_PHASE_ENTER && rf_is_collective(r.op)) calls[r.comm].push_back(r);
  for (auto& [comm, all] : calls)
    std::sort(all.begin(), all.end(),
              [](const rf_record& a, const rf_record& b) { return a.time_ns < b.time_ns; });
  return calls;
}

// As far as the record keeps them: a deep stack loses its outer frames.
Json innermost(Json frames) {
  if (frames.size() > RF_PYTHON_FRAMES) frames.erase(frames.begin() + RF_PYTHON_FRAMES, frames.end());
  return frames;
}

class TorchFrames : public testing::Test {
 protected:
  void SetUp() override {
    python_ = torch_python();
    if (python_.empty()) GTEST_SKIP() << "no PyTorch with Gloo (RANKFAULT_PYTHON)";
  }
  RankJobEnd run(std::map<std::string, std::string> env = {}) const {
    const char* source = getenv("RANKFAULT_SOURCE_DIR");
    return run_ranks({.argv = {python_, std::string(source ? source : ".") + "/tests/ranks/torch/frames.py"},
                      .ranks = 2,
                      .env = std::move(env)});
  }
  static int line_of(const std::string& text) {
    const char* source = getenv("RANKFAULT_SOURCE_DIR");
    std::ifstream in(std::string(source ? source : ".") + "/tests/ranks/torch/frames.py");
    int number = 0;
    for (std::string line; std::getline(in, line);)
      if (++number, line == text) return number;
    return 0;
  }
  std::string python_;
};

TEST_F(TorchFrames, AreThoseOfPyTorchsFlightRecorderCallForCall) {
  const RankJobEnd end = run();
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  if (!end.book.at(0).at("has_recorder").get<bool>())
    GTEST_SKIP() << "this PyTorch has no Flight Recorder for Gloo, whose frames the test compares";
  for (const auto& [rank, record] : end.records) {
    EXPECT_EQ(record.header.python_off, static_cast<uint32_t>(RF_PYTHON_IS_ON));
    const PythonCalls frames(record);
    const auto calls = calls_by_comm(record);
    ASSERT_EQ(calls.size(), 2u);
    size_t compared = 0;
    for (const auto& [comm, all] : calls) {
      const bool is_world = comm == calls.begin()->first;
      const Json& truth = end.book.at(rank).at("recorded").at(is_world ? "0" : "1");
      ASSERT_EQ(all.size(), truth.size());
      for (size_t i = 0; i < all.size(); ++i, ++compared) {
        ASSERT_TRUE(is_python_stack(all[i].where)) << "call " << i;
        EXPECT_EQ(frames.frames_of(all[i]), innermost(truth[i])) << "call " << i;
      }
    }
    EXPECT_GT(compared, 120u);
  }
}

// Of every PyTorch: the script calls total() 65 times on each rank, once too deep to reach <module>.
TEST_F(TorchFrames, HaveTheLineOfTheScriptThatCalled) {
  const RankJobEnd end = run();
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    const PythonCalls frames(record);
    std::map<int, int> lines;
    int to_the_module = 0;
    for (const auto& [comm, all] : calls_by_comm(record))
      for (const rf_record& call : all) {
        if (!is_python_stack(call.where)) continue;
        const Json stack = frames.frames_of(call);
        to_the_module += stack.back()[1] == "<module>";
        for (const Json& frame : stack)
          if (frame[1] == "total") ++lines[frame[2].get<int>()];
      }
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines.begin()->first, line_of("    dist.all_reduce(x)"));
    EXPECT_EQ(lines.begin()->second, 65);
    EXPECT_GE(to_the_module, 64);
  }
}

TEST_F(TorchFrames, AreOffByASwitch) {
  const RankJobEnd end = run({{"RANKFAULT_PYTHON_FRAMES", "0"}});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    EXPECT_EQ(record.header.python_off, static_cast<uint32_t>(RF_PYTHON_SWITCHED_OFF));
    EXPECT_TRUE(record.python.empty());
    for (const rf_record& r : record.records(RF_LIB_C10D))
      EXPECT_FALSE(r.phase == RF_PHASE_ENTER && is_python_stack(r.where));
  }
}

// Autograd makes the pass inside 61 others in a thread of its own. That has the frames of total() and of its
// hook alone.
constexpr const char* kDeepPasses = R"(
import json, os, torch, torch.distributed as dist
dist.init_process_group("gloo")
def total(): dist.all_reduce(torch.ones(1))
@torch.enable_grad()
def level(n):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: level(n - 1) if n else total())
    y.backward()
level(61)
total()
print(json.dumps({"rank": dist.get_rank()}), flush=True)
os._exit(0)
)";

TEST_F(TorchFrames, OfAThreadOfAutogradAreContinuedByThoseOfItsPass) {
  const RankJobEnd end = run_ranks({.argv = {python_, "-c", kDeepPasses}, .ranks = 2});
  ASSERT_THAT(end.status, Each(0)) << said_by_failed(end);
  for (const auto& [rank, record] : end.records) {
    const auto calls = calls_by_comm(record);
    ASSERT_EQ(calls.size(), 1u);
    const std::vector<rf_record>& totals = calls.begin()->second;
    ASSERT_EQ(totals.size(), 2u);
    const PythonCalls frames(record);
    const Json in_the_thread = frames.frames_of(totals[0]);
    EXPECT_EQ(in_the_thread.size(), RF_PYTHON_FRAMES) << in_the_thread;
    EXPECT_GT(
        std::count_if(in_the_thread.begin(), in_the_thread.end(), [](auto& f) { return f[1] == "level"; }),
        0);
    EXPECT_EQ(frames.frames_of(totals[1]).back()[1], "<module>") << "the pass is over";
  }
}

}  // namespace
}  // namespace rankfault::test
