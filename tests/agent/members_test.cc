// members.c alone: the space for lists of world ranks.
#include <gtest/gtest.h>

#include <vector>

#include "harness/agent/agent_abi.h"

extern "C" {
rf_header* rf_head;
int32_t* rf_members;
uint32_t rf_members_keep(const int32_t* ranks, uint32_t size);
void rf_members_release(uint32_t at);
void rf_members_reset(void);
}

namespace rankfault::test {
namespace {

TEST(Members, TheRoomOfALongListHoldsManyShortOnes) {
  rf_header header{};
  std::vector<int32_t> pool(RF_MAX_MEMBERS), list(RF_MAX_MEMBERS, 1);
  rf_head = &header;
  rf_members = pool.data();
  rf_members_reset();
  const uint32_t at = rf_members_keep(list.data(), RF_MAX_MEMBERS);
  ASSERT_EQ(at, 0u);
  EXPECT_EQ(rf_members_keep(list.data(), 1), RF_NO_MEMBERS);
  rf_members_release(at);
  for (int32_t i = 0; i < 200; ++i) {
    const std::vector<int32_t> own(64, i);
    const uint32_t place = rf_members_keep(own.data(), 64);
    ASSERT_NE(place, RF_NO_MEMBERS) << i;
    EXPECT_EQ(std::vector<int32_t>(pool.begin() + place, pool.begin() + place + 64), own);
  }
}

}  // namespace
}  // namespace rankfault::test
