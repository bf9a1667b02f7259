// library_traits_test: the rows of the libraries fit together. The compiler checks that each library has one.
#include "harness/observe/library_traits.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rankfault {
namespace {

TEST(LibraryTraits, EachNameIsOfOneLibrary) {
  std::set<std::string> names;
  for (const LibraryTraits& traits : kLibraries) EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
}

// Where a run used several, the table of outcomes names one of them.
TEST(LibraryTraits, EachThatCommunicatesHasATitleAndAPlaceOfItsOwn) {
  std::set<int> places;
  for (const LibraryTraits& traits : kLibraries) {
    EXPECT_EQ(traits.communicates, std::string(traits.title) != "") << traits.name;
    EXPECT_EQ(traits.communicates, traits.prominence != 0) << traits.name;
    if (!traits.communicates) continue;
    EXPECT_TRUE(places.insert(traits.prominence).second) << traits.name;
  }
}

TEST(LibraryTraits, OperationsOfStreamsHaveALibraryThatWaitsForThem) {
  for (const LibraryTraits& traits : kLibraries)
    EXPECT_EQ(traits.runs_on_streams, traits.stream_waits_in != RF_LIB_NONE) << traits.name;
}

TEST(LibraryTraits, NothingIsTrueOfALibraryThatIsNotKnown) {
  EXPECT_EQ(traits_of(RF_LIB_COUNT).library, RF_LIB_NONE);
  EXPECT_FALSE(traits_of(255).communicates);
  EXPECT_STREQ(traits_of(255).name, "unknown library");
}

}  // namespace
}  // namespace rankfault
