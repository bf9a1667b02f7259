// subject_calls: behaviours that call the fake library and the core.
#include <dlfcn.h>

#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "harness/mark/mark.h"
#include "tests/agent/fake/fake.h"
#include "tests/agent/subject.h"

namespace {
int all_reduces(long n) {
  char in[8] = "fault", out[8] = {};
  int failed = 0;
  for (long i = 0; i < n; ++i)
    if (const int rc = fake_all_reduce(in, out, sizeof(in))) failed = rc;
  return failed;
}
}  // namespace

// init, then N all_reduces. Exits with the last error, or 100 + the number of calls that the library did not
// get.
BEHAVIOUR(steps) {
  const long n = std::atol(args[0]);
  fake_init(std::atoi(std::getenv("RANK") ? std::getenv("RANK") : "0"), 4);
  if (const int rc = all_reduces(n)) return rc;
  const long missed = n - static_cast<long>(fake_count());
  return missed ? 100 + static_cast<int>(missed) : 0;
}

// Exits with the wrapped calls of a follower: one before the first call of the library, and one after it.
BEHAVIOUR(follower) {
  const int before = fake_follower();
  fake_init(0, 4);
  return 10 * before + fake_follower();
}

BEHAVIOUR(for_ever) {
  fake_init(0, 4);
  all_reduces(1);  // replaces the init in the state of the thread
  std::puts("running");
  std::fflush(stdout);
  for (;;) all_reduces(1000);
}

BEHAVIOUR(hard_signatures) {
  if (fake_thirteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) != 819) return 1;
  FakeBig big;
  for (int i = 0; i < 16; ++i) big.value[i] = i;
  if (fake_by_value(big, 2.5) != 1362) return 2;
  const FakeBig back = fake_returns_big(40);
  for (int i = 0; i < 16; ++i)
    if (back.value[i] != 40 + i) return 3;
  if (fake_mixed(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16) != 1496) return 4;
  return fake_put();
}

namespace {
__attribute__((noinline, no_sanitize("address"))) void fill_stack() {
  volatile unsigned char below[64 * 1024];
  for (volatile unsigned char& byte : below) byte = kStackFill;
}
int at_most_99(int count) { return count < 99 ? count : 99; }
}  // namespace

// Exits with the number of bytes that the first call of a name left below its caller's frame.
BEHAVIOUR(left_on_stack) {
  const long word = 0x0123456789abcdef;
  fill_stack();
  return at_most_99(fake_left_on_stack(0, word, word, word, word, word));
}

// The same for the first call that a decoder wraps. The wrapper itself may use 1 KiB.
BEHAVIOUR(left_by_wrapper) {
  fill_stack();
  return at_most_99(fake_left_by_wrapper(1024));
}

BEHAVIOUR(exceptions) {
  fake_init(0, 4);
  for (int i = 0; i < 3; ++i) {
    try {
      fake_throw(i);
      return 1;
    } catch (int code) {
      if (code != i) return 2;
    }
  }
  return all_reduces(1);
}

BEHAVIOUR(keeps_errno) {
  errno = 77;
  if (fake_errno() != 77) return 1;  // the first call goes through the resolver
  errno = 78;
  fake_init(0, 4);  // loads the decoder and opens the record
  if (errno != 78) return 2;
  errno = 79;
  if (all_reduces(1) || errno != 79) return 3;
  errno = 80;
  rankfault_step_begin(3);
  return errno == 80 && fake_errno() == 80 ? 0 : 4;
}

BEHAVIOUR(asks_for_what_is_not_there) {
  dlerror();
  const bool found = dlsym(RTLD_DEFAULT, "fake_Initialized") || dlsym(RTLD_DEFAULT, "fake_never_defined");
  return !found && dlerror() ? 0 : 1;
}

BEHAVIOUR(marks) {
  rankfault_phase("train");
  rankfault_step_begin(4);
  rankfault_value("loss", 4, 0x10);
  rankfault_mark("here", 9);
  rankfault_step_commit(4);
  int batches = 0;
  while (batches < 10 && rankfault_batch(batches)) ++batches;
  return batches;
}

BEHAVIOUR(nothing) { return 0; }

// With SUBJECT_HOLD all threads exist before any ends.
BEHAVIOUR(threads) {
  fake_init(0, 4);
  const int n = std::atoi(args[0]), each = std::atoi(args[1]);
  std::barrier together(std::getenv("SUBJECT_HOLD") ? n : 1);
  std::vector<std::thread> all;
  for (int t = 0; t < n; ++t)
    all.emplace_back([each, &together] {
      all_reduces(each);
      together.arrive_and_wait();
    });
  for (auto& t : all) t.join();
  return 0;
}

BEHAVIOUR(threads_in_turn) {
  fake_init(0, 4);
  for (int t = 0; t < std::atoi(args[0]); ++t) std::thread([] { all_reduces(1); }).join();
  return 0;
}

BEHAVIOUR(too_many_comms) {
  core().become_member(RF_LIB_NCCL, 0, 4);
  uint32_t last = 0;
  for (uint32_t i = 0; i < RF_MAX_COMMS + 1; ++i) {
    rf_comm_info info{};
    info.id = info.handle = i + 1;
    info.size = 4;
    info.library = RF_LIB_NCCL;
    last = core().comm_add(&info);
    if (i < RF_MAX_COMMS && core().comm_find(RF_LIB_NCCL, i + 1, 0) != i) return 1;
  }
  recorded_call(RF_OP_ALL_REDUCE, last);
  return last == RF_NO_COMM ? 0 : 2;
}

namespace {
// A communicator of `size` ranks, whose member list differs from all others.
uint32_t add_comm(uint64_t id, int size, uint64_t handle) {
  std::vector<int32_t> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(static_cast<int32_t>(id) + r);
  const std::string name = "group number " + std::to_string(id);
  rf_comm_info info{};
  info.id = id;
  info.handle = handle;
  info.size = static_cast<uint32_t>(size);
  info.library = RF_LIB_NCCL;
  info.world_ranks = ranks.data();
  info.name = name.c_str();
  return core().comm_add(&info);
}
}  // namespace

// N communicators in turn, in addition to one that stays. Then an operation on a freed one completes.
BEHAVIOUR(comms_in_turn) {
  core().become_member(RF_LIB_NCCL, 0, 4);
  const uint32_t stays = add_comm(1, 4, 1);
  uint32_t last = RF_NO_COMM, freed = RF_NO_COMM;
  for (int i = 0; i < std::atoi(args[0]); ++i) {
    last = add_comm(static_cast<uint64_t>(i) + 2, 1 + i * 7 % 300, 5);
    if (last == RF_NO_COMM || core().comm_find(RF_LIB_NCCL, 5, 0) != last) return 1;
    recorded_call(RF_OP_ALL_REDUCE, last);
    if (core().comm_get(last)->entered != 1) return 2;
    core().comm_gone(last);
    if (core().comm_find(RF_LIB_NCCL, 5, 0) != RF_NO_COMM) return 3;
    if (freed == RF_NO_COMM) freed = last;
  }
  if (core().comm_get(freed)) return 4;
  core().complete(RF_ORIGIN(0, 1), freed, 99, 0);
  core().comm_gone(freed);
  rf_call late{};  // as in a program that uses a handle after it freed it
  late.op = RF_OP_BARRIER;
  late.library = RF_LIB_NCCL;
  late.comm = freed;
  core().begin(&late);
  if (late.comm != RF_NO_COMM) return 5;
  core().end(&late, 0);
  recorded_call(RF_OP_ALL_REDUCE, stays);
  return core().comm_get(stays)->entered == 1 && core().comm_get(last) ? 0 : 6;
}

BEHAVIOUR(too_many_names) {
  if (core().name("one") != core().name("one") || core().name("one") == core().name("two")) return 1;
  uint32_t last = 1;
  for (int i = 0; i < 3000; ++i) last = core().name(("name number " + std::to_string(i)).c_str());
  return last == 0 && core().name("one") == 1 ? 0 : 2;
}

BEHAVIOUR(counts) {  // one nonblocking call and its completion; a send; an inner call
  core().become_member(RF_LIB_NCCL, 2, 4);
  rf_comm_info info{};
  info.id = info.handle = 9;
  info.size = 4;
  info.library = RF_LIB_NCCL;
  const uint32_t comm = core().comm_add(&info);
  recorded_call(RF_OP_ALL_REDUCE, comm);
  rf_call call{};
  call.op = RF_OP_ALL_REDUCE;
  call.library = RF_LIB_NCCL;
  call.comm = comm;
  call.flags = RF_CALL_NONBLOCKING;
  core().begin(&call);
  recorded_call(RF_OP_BARRIER, comm);  // inner: neither recorded nor counted
  core().end_enqueued(&call, 0);
  if (core().comm_get(comm)->entered != 2 || core().comm_get(comm)->completed != 1) return 1;
  core().complete(RF_ORIGIN(call.lane, call.number), comm, call.seq, 0);
  recorded_call(RF_OP_SEND, comm);
  const rf_comm* c = core().comm_get(comm);
  return c->entered == 2 && c->completed == 2 && c->sends == 1 ? 0 : 2;
}

// A call whose error a handler took, one call after it, and a pending call that was refused. The first two
// return 0.
BEHAVIOUR(handled_errors) {
  core().become_member(RF_LIB_NCCL, 0, 4);
  rf_call refused{}, fine{}, pending{};
  for (rf_call* call : {&refused, &fine, &pending}) call->op = RF_OP_ALL_REDUCE;
  core().begin(&refused);
  core().error_handled(7);
  core().error_handled(8);  // the first one counts
  if (core().end(&refused, 0) != 0 || core().handled_error() != 7) return 1;
  core().begin(&fine);
  core().end(&fine, 0);
  core().begin(&pending);
  core().error_handled(9);
  core().end_enqueued(&pending, 0);
  return 0;
}

BEHAVIOUR(two_thread_levels) {  // one library allows any thread, the other does not
  core().become_member(RF_LIB_GLOO, 0, 4);
  core().thread_multiple(1);
  core().thread_multiple(0);
  return 0;
}
