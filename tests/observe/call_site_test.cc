// call_site_test: return addresses outside any module, as in code that a compiler makes while the program
// runs.
#include "harness/observe/call_site.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace rankfault {
namespace {

TEST(CallSites, WhatIsNowhereIsLookedForAgainWhenModulesCame) {
  constexpr uint64_t kNowhere = 0x10;
  Places places;
  CallSites sites;
  sites.read_maps("/proc/self/maps");
  EXPECT_FALSE(sites.add(kNowhere, places));
  sites.is_nowhere(kNowhere);
  EXPECT_TRUE(sites.add(kNowhere, places));
  sites.read_maps("/proc/self/maps");
  EXPECT_TRUE(sites.add(kNowhere, places));
  sites.modules_changed("/proc/self/maps");
  EXPECT_FALSE(sites.add(kNowhere, places));
  EXPECT_TRUE(sites.all().empty());
}

}  // namespace
}  // namespace rankfault
