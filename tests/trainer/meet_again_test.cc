// MeetAgain tests: ranks as threads over one directory: ranks that come, come late, or die in between.
#include "workloads/trainer/meet_again.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "workloads/trainer/collectives.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class MeetAgain : public testing::Test {
 protected:
  MeetAgain() {
    std::string form = (fs::temp_directory_path() / "meet_again.XXXXXX").string();
    store = mkdtemp(form.data());
  }
  ~MeetAgain() override { fs::remove_all(store); }

  Gathering as(int id, std::chrono::milliseconds wait = 10s) const {
    return {store, 1, id, {0, 1, 2, 3}, wait};
  }
  // Returns the worlds that these ranks got, in their order.
  std::vector<std::vector<int>> meet(const std::vector<int>& ids, std::chrono::milliseconds wait) const {
    std::vector<std::future<std::vector<int>>> ranks;
    for (int id : ids)
      ranks.push_back(
          std::async(std::launch::async, [this, id, wait] { return agree_on_members(as(id, wait)); }));
    std::vector<std::vector<int>> worlds;
    for (auto& rank : ranks) worlds.push_back(rank.get());
    return worlds;
  }
  std::string failure_of(const Gathering& gathering) const {
    try {
      agree_on_members(gathering);
    } catch (const CollectiveError& error) {
      return error.kind + ": " + error.what();
    }
    return "";
  }

  std::string store;
};

TEST_F(MeetAgain, WhenAllComeNobodyWaits) {
  // The limit is an hour: this ends because all have come.
  EXPECT_THAT(meet({0, 1, 2, 3}, 1h), Each(ElementsAre(0, 1, 2, 3)));
}

TEST_F(MeetAgain, ThoseLeftFormTheWorldAndAllGetTheSame) {
  EXPECT_THAT(meet({0, 2, 3}, 300ms), Each(ElementsAre(0, 2, 3)));
}

TEST_F(MeetAgain, ARankAloneIsAWorld) { EXPECT_THAT(meet({2}, 50ms), Each(ElementsAre(2))); }

TEST_F(MeetAgain, OneThatIsLateIsLeftBehind) {
  meet({0, 2, 3}, 300ms);
  EXPECT_THAT(failure_of(as(1)), HasSubstr("excluded"));
}

// A rank was present, and died before it was ready: its peers must not continue to connect.
TEST_F(MeetAgain, OneThatDiesAfterItCameIsNoticed) {
  fs::create_directories(directory_of(store, 1));
  std::ofstream(directory_of(store, 1) + "/present-1") << "";
  std::ofstream(directory_of(store, 1) + "/world") << "0\n1\n";
  EXPECT_THAT(failure_of(as(0, 200ms)), HasSubstr("peer_lost: not ready in generation 1: rank 1"));
}

// With two proposals at once the record is one of them, complete, and both ranks use it.
TEST_F(MeetAgain, TheFirstRecordIsTheOnlyOne) {
  fs::create_directories(directory_of(store, 1));
  std::ofstream(directory_of(store, 1) + "/world") << "0\n3\n";
  EXPECT_THAT(meet({0, 3}, 10s), Each(ElementsAre(0, 3)));
  EXPECT_THAT(failure_of(as(2, 50ms)), HasSubstr("excluded"));
}

TEST_F(MeetAgain, AStoreThatCannotBeUsedIsAnError) {
  Gathering gathering = as(0);
  gathering.store += "/none";
  EXPECT_THAT(failure_of(gathering), HasSubstr("other: cannot make"));
}

}  // namespace
}  // namespace trainer
