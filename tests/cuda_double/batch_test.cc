// Tests of the model's batches: which call a kernel belongs to.
#include "cuda_double/model/batch.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cuda_double {
namespace {

class BatchTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("RANKFAULT_CUDA_KERNELS", "until_abort", 1); }
  // As a non-blocking call: NCCL launches the kernel later, from its own thread.
  static void all_reduce(const CommunicatorPtr& communicator, const StreamPtr& stream) {
    Operation operation;
    operation.communicator = communicator;
    note(operation, stream);
    settle_call(communicator, true, true);
  }
  static CommunicatorPtr communicator() { return std::make_shared<Communicator>(); }
};

// The next communicator gets the memory of the one that ended, and the memory of its stream.
TEST_F(BatchTest, AKernelIsForNoCommunicatorThatHasEnded) {
  const StreamPtr stream = Streams::all().make(0, false);
  const CommunicatorPtr first = communicator(), second = communicator();
  const void* owner = &stream;
  all_reduce(first, stream);
  ASSERT_TRUE(launch_collective(stream, owner));
  EXPECT_EQ(first->next, 1u);
  first->abort();
  end_launches_of(first);
  all_reduce(second, stream);
  ASSERT_TRUE(launch_collective(stream, owner));
  EXPECT_EQ(first->next, 1u);
  EXPECT_EQ(second->next, 1u);
  second->abort();
  end_launches_of(second);
  Streams::all().wait_for(Streams::all().end_of(stream));
  EXPECT_FALSE(launch_collective(stream, owner));
}

}  // namespace
}  // namespace cuda_double
