// gloo_decoder_test: what the Gloo decoders report when they lose track, over a core that only listens.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "harness/backends/gloo/context_table.h"
#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {
namespace {

std::atomic<uint32_t> opaque{0};
std::atomic<uint32_t> comms{0};
std::atomic<bool> comm_add_waits{false}, comm_add_entered{false};

int32_t numel_of_tensor(const void*, int64_t* n) { return *n = 1, 0; }
int32_t dtype_of_tensor(const void*, int32_t* type) { return *type = 6, 0; }
void store_set(void*, const std::string&, const std::string&) {}
std::string store_get(void*, const std::string&) { return ""; }
void construct(void*, void* const*, int, int, void**) {}
WorkHandle barrier(void* self, const void*) { return WorkHandle(self); }

const std::map<std::string, std::string>& build_options() {
  static const std::map<std::string, std::string> options{{"TORCH_VERSION", "2.13.0"}};
  return options;
}

void* resolve(const char* symbol) {
  const std::string_view name = symbol;
  if (name == "_ZN6caffe215GetBuildOptionsB5cxx11Ev") return reinterpret_cast<void*>(&build_options);
  if (name == "aoti_torch_get_numel") return reinterpret_cast<void*>(&numel_of_tensor);
  if (name == "aoti_torch_get_dtype") return reinterpret_cast<void*>(&dtype_of_tensor);
  if (name.starts_with("_ZN4c10d5Store3set")) return reinterpret_cast<void*>(&store_set);
  if (name.starts_with("_ZN4c10d5Store10get_to_str")) return reinterpret_cast<void*>(&store_get);
  return name.find("finishWorkGloo") == std::string_view::npos ? nullptr : &opaque;
}

rf_core_v1 listening_core() {
  rf_core_v1 table{};
  table.version = RF_CORE_VERSION;
  table.bytes = sizeof table;
  table.begin = [](rf_call* call) { return call->outermost = 1, RF_DO_FORWARD; };
  table.end = [](rf_call*, int result) { return result; };
  table.end_enqueued = [](rf_call*, int) {};
  table.complete = [](uint64_t, uint32_t, uint64_t, int) {};
  table.comm_add = [](const rf_comm_info*) {
    comm_add_entered = true;
    while (comm_add_waits) std::this_thread::yield();
    return comms++;
  };
  table.comm_find = [](uint8_t, uint64_t, uint32_t) { return RF_NO_COMM; };
  table.comm_get = [](uint32_t) -> const rf_comm* { return nullptr; };
  table.comm_gone = [](uint32_t) {};
  table.become_member = [](uint8_t, int32_t, int32_t) {};
  table.told_by_launcher = [](int32_t*, int32_t*) { return 0; };
  table.rank = [] { return int32_t{-1}; };
  table.coverage = [](uint8_t, const char*, uint32_t, rf_hook, const char*) {};
  table.opaque = [](uint32_t bits) { opaque |= bits; };
  table.thread_multiple = [](int) {};
  table.resolve = resolve;
  return table;
}

struct alignas(64) Object {
  char bytes[64];
};

class GlooDecoder : public testing::Test {
 protected:
  void SetUp() override {
    static const rf_core_v1 table = listening_core();
    const char* reason = nullptr;
    static const int refused = rankfault_decoder_v1.attach(&table, &reason);
    ASSERT_EQ(refused, 0) << reason;
    torch_next.construct = construct;
    torch_next.barrier = barrier;
    opaque = 0;
  }
  template <typename F>
  static F wrapper(const char* part_of_symbol) {
    for (const rf_wrapper* w = rankfault_decoder_v1.wrappers; w->symbol; ++w)
      if (std::string_view(w->symbol).find(part_of_symbol) != std::string_view::npos)
        return reinterpret_cast<F>(w->wrapper);
    ADD_FAILURE() << part_of_symbol;
    return nullptr;
  }
  static void make_group(void* group) {
    void* store = nullptr;
    wrapper<decltype(torch_next.construct)>("ProcessGroupGlooC1")(group, &store, 0, 2, nullptr);
  }
  static void call_barrier(void* group) {
    wrapper<decltype(torch_next.barrier)>("Gloo7barrier")(group, nullptr);
  }
};

constexpr uint32_t kSaid = RF_OPAQUE_COMMUNICATION;

TEST_F(GlooDecoder, ACallOnAGroupIsUnderstood) {
  static Object group;
  make_group(&group);
  call_barrier(&group);
  EXPECT_EQ(opaque, 0u);
}

TEST_F(GlooDecoder, SaysThatACallWasMadeOnAnUnknownGroup) {
  static Object group;
  call_barrier(&group);
  EXPECT_EQ(opaque, kSaid);
}

TEST_F(GlooDecoder, SaysThatALiveGroupWasForgotten) {
  static std::array<Object, 257> groups;  // one more than there are places
  for (Object& group : groups) make_group(&group);
  EXPECT_EQ(opaque, kSaid);
}

TEST_F(GlooDecoder, SaysThatACallGoesUnjoined) {
  CurrentCall call;
  std::vector<bool> entered;
  while (entered.size() < 33) entered.push_back(state().enter(call));  // a thread has 32 places
  EXPECT_FALSE(entered.back());
  EXPECT_EQ(opaque, kSaid);
  for (int i = 0; i < 32; ++i) state().leave();
}

TEST_F(GlooDecoder, SaysThatOpenWorkWasForgottenAndIsSilentAboutWorkThatIsDone) {
  rf_call call{};
  static std::array<Object, 8194> works;
  for (size_t i = 0; i < 4097; ++i) {
    CurrentCall current{.call = &call};
    Pending& piece = state().open(current);
    state().close(piece, false), state().close(piece, false);  // its own end, and its call's
    state().keep_work(&works[i], piece);
  }
  EXPECT_EQ(opaque, 0u);
  for (size_t i = 4097; i < works.size(); ++i) {
    CurrentCall current{.call = &call};
    state().keep_work(&works[i], state().open(current));
  }
  EXPECT_EQ(opaque, kSaid);
}

TEST(PointerMap, TellsWhichValueItForgot) {
  PointerMap<16> map;
  Object objects[17];
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(map.set(&objects[i], i), PointerMap<16>::kAbsent);
  EXPECT_EQ(map.set(&objects[0], 40), PointerMap<16>::kAbsent) << "the same again";
  map.erase(&objects[1]);
  EXPECT_EQ(map.set(&objects[1], 41), PointerMap<16>::kAbsent);
  const uint64_t forgotten = map.set(&objects[16], 16);
  EXPECT_NE(forgotten, PointerMap<16>::kAbsent);
  EXPECT_EQ(map.get(&objects[16]), 16u);
  int known = 0;
  for (int i = 0; i < 16; ++i) known += map.get(&objects[i]) != PointerMap<16>::kAbsent;
  EXPECT_EQ(known, 15);
}

// Runs `work` in a child and returns its status. A signal ends a child that takes too long.
template <typename F>
int status_of_child(F work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(PointerMap, IsUsableInAChildForkedInTheMiddleOfAChange) {
  static PointerMap<64> map;
  std::atomic<bool> stop{false};
  static char a[16], b[16];
  std::thread other([&] {
    while (!stop) map.set(a, 1), map.erase(a);
  });
  int failed = 0;
  for (int i = 0; i < 50 && !failed; ++i)
    failed = status_of_child([] {
      map.set(b, 2);
      map.erase(b);
    });
  stop = true;
  other.join();
  EXPECT_EQ(failed, 0);
}

TEST_F(GlooDecoder, AContextTableIsUsableInAChildForkedWhileItWasLocked) {
  static ContextTable& table = *new ContextTable;
  static Object first, second;
  comm_add_entered = false;
  comm_add_waits = true;
  std::thread other([] { table.add(&first, {.rank = 0, .size = 2, .members = {}}); });
  while (!comm_add_entered) std::this_thread::yield();
  EXPECT_EQ(status_of_child([] {
              comm_add_waits = false;
              if (table.stream(&second, 3, 0, 2) == RF_NO_COMM) _exit(1);
              table.gone(&first);
            }),
            0);
  EXPECT_EQ(table.stream(&second, 3, 0, 2), RF_NO_COMM) << "the lock is still held, in this process";
  EXPECT_EQ(opaque, kSaid);
  comm_add_waits = false;
  other.join();
  EXPECT_NE(table.stream(&second, 3, 0, 2), RF_NO_COMM);
}

}  // namespace
}  // namespace rankfault::gloo_decoder
