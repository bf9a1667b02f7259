// memory_room_test: a job that does not fit into the machine's memory is refused before launch.
#include "harness/launch/memory_room.h"

#include <gmock/gmock.h>

namespace rankfault {
namespace {

using testing::HasSubstr;

constexpr const char* kMeminfo =
    "MemTotal:        8000000 kB\nMemFree:          100 kB\nMemAvailable:    4096 kB\nSwapFree:        1024 "
    "kB\n";
constexpr uint64_t kMegabyte = 1u << 20;

TEST(MemoryRoom, IsWhatIsAvailableAndTheSwap) { EXPECT_EQ(memory_in(kMeminfo, "max\n"), 5 * kMegabyte); }

TEST(MemoryRoom, IsNoMoreThanTheLimitOfTheControlGroup) {
  EXPECT_EQ(memory_in(kMeminfo, "2097152\n"), 3 * kMegabyte);
  EXPECT_EQ(memory_in(kMeminfo, ""), 5 * kMegabyte);
}

TEST(MemoryRoom, MayBeUnknown) { EXPECT_EQ(memory_in("MemTotal: 1 kB\n", "max"), std::nullopt); }

TEST(MemoryRoom, TooLittleIsTheUsersMistakeAndSaysHowMuchIsNeeded) {
  const Status refused = check_memory_room(4, 300 * kMegabyte, 1000 * kMegabyte, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message,
              HasSubstr("1000 MB of memory are free, and 4 ranks of PyTorch need at least 1200 MB"));
  EXPECT_TRUE(check_memory_room(3, 300 * kMegabyte, 1000 * kMegabyte, {}).ok());
  EXPECT_TRUE(check_memory_room(4, 300 * kMegabyte, std::nullopt, {}).ok()) << "not known";
}

}  // namespace
}  // namespace rankfault
