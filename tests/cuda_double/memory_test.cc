// Tests of the double's devices and their memory.
#include "cuda_double/core/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cuda_double/core/mapped_memory.h"
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
  ASSERT_EQ(register_range(own, sizeof own, MemoryKind::host, 0), kSuccess);
  EXPECT_EQ(allocation_of(own + 3)->kind, MemoryKind::host);
  EXPECT_EQ(release(own), kInvalidValue) << "cudaFreeHost of memory that is only registered";
  EXPECT_EQ(release(own, false), kSuccess);
  EXPECT_EQ(release(own, false), kHostMemoryNotRegistered);
}

TEST(Devices, BeyondTheLastAreRefusedAndNamed) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(set_current_device(settings().machine_devices - 1), kSuccess);
  EXPECT_EQ(set_current_device(-1), kInvalidDevice);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(set_current_device(40), kInvalidDevice);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("a rank asks for device 40, and devices 0 to"));
  EXPECT_EQ(set_current_device(0), kSuccess);
}

// What PyTorch does with expandable segments.
TEST(MappedMemory, OfOneHandleIsTheSameAtEveryPlaceAndCountsUntilTheLastIsGone) {
  constexpr std::size_t kPart = kMappedGranularity;
  const std::size_t all = free_bytes(4);
  void* at = nullptr;
  ASSERT_EQ(reserve_range(4 * kPart, &at), kSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % kPart, 0u);
  EXPECT_FALSE(allocation_of(at)) << "only addresses";
  std::uint64_t handle = 0;
  ASSERT_EQ(create_memory(2 * kPart, 4, &handle), kSuccess);
  EXPECT_EQ(free_bytes(4), all - 2 * kPart);
  char* const place = static_cast<char*>(at);
  ASSERT_EQ(map_memory(place, kPart, 0, handle), kSuccess);
  ASSERT_EQ(map_memory(place + kPart, kPart, kPart, handle), kSuccess);
  ASSERT_EQ(map_memory(place + 2 * kPart, 2 * kPart, 0, handle), kSuccess);
  EXPECT_EQ(map_memory(place, 2 * kPart, kPart, handle), kInvalidValue) << "more than there is";
  EXPECT_EQ(allocation_of(place + kPart)->device, 4);
  place[kPart + 7] = 'x';
  EXPECT_EQ(place[3 * kPart + 7], 'x');
  EXPECT_EQ(release_memory(handle), kSuccess);
  EXPECT_EQ(unmap_memory(place, 2 * kPart), kSuccess) << "two mappings side by side";
  EXPECT_FALSE(allocation_of(place + kPart));
  EXPECT_EQ(free_bytes(4), all - 2 * kPart) << "one is still mapped";
  EXPECT_EQ(unmap_memory(place + 2 * kPart, 2 * kPart), kSuccess);
  EXPECT_EQ(free_bytes(4), all);
  EXPECT_EQ(release_memory(handle), kInvalidValue);
  EXPECT_EQ(free_range(at, 4 * kPart), kSuccess);
}

TEST(MappedMemory, OfOneDeviceEnds) {
  std::uint64_t handle = 0;
  EXPECT_EQ(create_memory(settings().memory + kMappedGranularity, 5, &handle), kOutOfMemory);
  EXPECT_EQ(create_memory(1, 5, &handle), kInvalidValue) << "not a multiple of the granularity";
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
