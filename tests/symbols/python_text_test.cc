// python_text: how frames are written for people, and how places are compared.
#include "harness/symbols/python_text.h"

#include <gtest/gtest.h>

namespace rankfault {
namespace {

TEST(PythonText, SaysThatTorchMadeTheCallInABackward) {
  const std::vector<CallFrame> frames = {
      {"/v/site-packages/torch/autograd/graph.py", "_engine_run_backward", 1},
      {"/v/site-packages/torch/_tensor.py", "Tensor.backward", 2},
      {"/job/train.py", "step", 47}};
  EXPECT_EQ(python_text(frames), "backward() in step() at train.py:47");
}

TEST(PythonText, SaysThatFsdpMadeTheCall) {
  const CallFrame fsdp{"/v/site-packages/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py",
                       "all_gather", 1},
      backward{"/v/site-packages/torch/autograd/graph.py", "_engine_run_backward", 1},
      step{"/job/train.py", "step", 47};
  EXPECT_EQ(python_text({fsdp, step}), "FSDP in step() at train.py:47");
  EXPECT_EQ(python_text({fsdp, backward, step}), "FSDP, backward() in step() at train.py:47");
}

// DDP's buckets are numbered within a pass of the program's own.
TEST(PythonText, SaysThatACheckpointRanAPassOfItsOwn) {
  const CallFrame engine{"/v/site-packages/torch/autograd/graph.py", "_engine_run_backward", 1},
      checkpoint{"/v/site-packages/torch/utils/checkpoint.py", "CheckpointFunction.backward", 2},
      step{"/job/train.py", "step", 47};
  EXPECT_EQ(python_text({engine, checkpoint, engine, step}),
            "checkpoint, backward() in step() at train.py:47");
}

TEST(PythonText, OfAProgramWithoutOwnCodeIsOfThoseOutsideTorch) {
  const std::vector<CallFrame> frames = {{"/v/site-packages/torch/distributed/c10d.py", "barrier", 1},
                                         {"/v/site-packages/accelerate/test.py", "main", 9}};
  EXPECT_EQ(python_text(frames), "main() at test.py:9");
  EXPECT_EQ(python_text({frames[0]}), "barrier() at c10d.py:1");
  EXPECT_EQ(python_text({}), "");
}

TEST(PythonText, IsAnotherPlaceIfTheLineOfAnyFrameDiffers) {
  const CallFrame helper{"/job/u.py", "sum_up", 3}, one{"/job/train.py", "f", 8},
      other{"/job/train.py", "f", 9};
  EXPECT_EQ(python_place({helper, one}), python_place({helper, one}));
  EXPECT_NE(python_place({helper, one}), python_place({helper, other}));
}

TEST(PythonText, IsTheSamePlaceOnHostsWithOtherFolders) {
  EXPECT_EQ(python_place({{"/scratch/a/job/train.py", "f", 8},
                          {"/venv/1/site-packages/x/y.py", "g", 1},
                          {"<step 3>", "h", 1}}),
            python_place({{"/scratch/b/job/train.py", "f", 8},
                          {"/venv/2/site-packages/x/y.py", "g", 1},
                          {"<step 4>", "h", 1}}));
}

TEST(PythonText, LeavesOutTheFrameThatPythonPutsBeforeAnInit) {
  const CallFrame init{"/job/m.py", "Model.__init__", 4}, shim{"__init__", "__init__", 1},
      main{"/job/t.py", "main", 9};
  EXPECT_EQ(python_place({init, shim, main}), python_place({init, main}));
  EXPECT_EQ(python_text({init, shim, main}), "Model.__init__() at m.py:4, called from main() at t.py:9");
}

}  // namespace
}  // namespace rankfault
