// torch_autograd.cc: the passes of autograd. On a device a thread of autograd makes the calls of a pass, and
// has no frames of the program: those of the thread that called backward() belong to its calls.
#include "harness/backends/gloo/recorded_call.h"
#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {
namespace {

// As a return value: it is not trivial, so every ABI returns it through a hidden pointer to memory of the
// caller.
struct InMemory {
  InMemory(InMemory&&) noexcept {}  // NOLINT
  ~InMemory() {}                    // NOLINT
};

// Engine::execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs): makes a GraphTask, and
// returns when the pass has ended.
using Execute = InMemory (*)(void*, const void*, const void*, bool, bool, bool, const void*);
// Engine::execute_with_graph_task(const shared_ptr<GraphTask>&, shared_ptr<Node>, InputBuffer&&): runs it. It
// may leave the pass to another thread and return. The root comes by value: the ABI passes the address of its
// handle, which is an intrusive_ptr from PyTorch 2.13 on.
using ExecuteTask = InMemory (*)(void*, void* const*, void*, void*);

Execute next_execute;
ExecuteTask next_of_shared, next_of_intrusive;

class Pass {
 public:
  Pass() {
    pass_.of_thread = torch_function.task_of_thread;
    if (pass_.of_thread) core->pass_begin(&pass_);
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  ~Pass() { core->pass_end(&pass_); }

 private:
  rf_pass pass_{};
};

InMemory execute(void* engine, const void* roots, const void* inputs, bool keep_graph, bool create_graph,
                 bool accumulate_grad, const void* outputs) {
  const Pass pass;
  return next_execute(engine, roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
}

template <ExecuteTask* kNext>
InMemory execute_task(void* engine, void* const* task, void* root, void* inputs) {
  core->pass_task(*task);
  return (*kNext)(engine, task, root, inputs);
}

}  // namespace

#define ENGINE "_ZN5torch8autograd6Engine"
#define EXECUTE_TASK ENGINE "23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEE"
#define WRAP(symbol, wrapper, next) \
  { symbol, reinterpret_cast<void*>(&(wrapper)), reinterpret_cast<void**>(&(next)) }
const rf_wrapper kAutogradWrappers[] = {
    WRAP(ENGINE "7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_", execute,
         next_execute),
    WRAP(EXECUTE_TASK "S2_INS0_4NodeEEONS0_11InputBufferE", execute_task<&next_of_shared>, next_of_shared),
    WRAP(EXECUTE_TASK
         "N3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEEONS0_"
         "11InputBufferE",
         execute_task<&next_of_intrusive>, next_of_intrusive),
    {nullptr, nullptr, nullptr},
};

}  // namespace rankfault::gloo_decoder
