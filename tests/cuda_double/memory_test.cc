// Tests of the double's devices and their memory.
#include "cuda_double/core/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cuda_double/core/settings.h"

namespace cuda_double {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Memory, IsUsableAndKnownByEveryAddressInIt) {
  void* at = nullptr;
  ASSERT_EQ(allocate(10000, MemoryKind::device, 1, &at), kSuccess);
  std::memset(at, 7, 10000);
  const auto found = allocation_of(static_cast<char*>(at) + 9999);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->base, reinterpret_cast<std::uintptr_t>(at));
  EXPECT_EQ(found->device, 1);
  EXPECT_EQ(release(at), kSuccess);
  EXPECT_FALSE(allocation_of(at));
  EXPECT_EQ(release(at), kInvalidValue) << "twice";
}

TEST(Memory, OfOneDeviceEnds) {
  const std::size_t all = settings().memory;
  void *most = nullptr, *more = nullptr, *elsewhere = nullptr, *host = nullptr;
  ASSERT_EQ(allocate(all - 4096, MemoryKind::device, 2, &most), kSuccess);
  EXPECT_EQ(free_bytes(2), 4096u);
  EXPECT_EQ(allocate(4097, MemoryKind::device, 2, &more), kOutOfMemory);
  EXPECT_EQ(allocate(static_cast<std::size_t>(-1), MemoryKind::device, 2, &more), kOutOfMemory) << "wraps";
  EXPECT_EQ(allocate(4097, MemoryKind::device, 3, &elsewhere), kSuccess) << "another device has its own";
  EXPECT_EQ(allocate(4097, MemoryKind::host, 2, &host), kSuccess) << "the host's is not the device's";
  EXPECT_EQ(release(most), kSuccess);
  EXPECT_EQ(free_bytes(2), all);
  release(elsewhere);
  release(host);
}

TEST(Memory, OfTheProgramIsRegisteredAndStaysTheProgramsOwn) {
  char own[64];
  ASSERT_EQ(register_host(own, sizeof own, 0), kSuccess);
  EXPECT_EQ(allocation_of(own + 3)->kind, MemoryKind::host);
  EXPECT_EQ(release(own), kInvalidValue) << "cudaFreeHost of memory that is only registered";
  EXPECT_EQ(release(own, false), kSuccess);
  EXPECT_EQ(release(own, false), kHostMemoryNotRegistered);
}

TEST(Settings, VisibleDevicesEndAtTheFirstThatIsNone) {
  EXPECT_THAT(visible_devices(nullptr, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(visible_devices("", 3), IsEmpty());
  EXPECT_THAT(visible_devices("2,0", 3), ElementsAre(2, 0));
  EXPECT_THAT(visible_devices("1,3,0", 3), ElementsAre(1));
  EXPECT_THAT(visible_devices("1,-1,0", 3), ElementsAre(1));
  EXPECT_THAT(visible_devices("1,1", 3), IsEmpty()) << "named twice";
  EXPECT_THAT(visible_devices("0x,1", 3), ElementsAre(0));
}

}  // namespace
}  // namespace cuda_double
