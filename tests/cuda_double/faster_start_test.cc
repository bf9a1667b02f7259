// Tests of what stands before NCCL's own functions so that many ranks start faster: the results stay theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kRanks = 3, kBytes = 1 << 20;
std::vector<int> gathered;  // the bytes of a part in each exchange

// What rank 1 of 3 has; the others have more.
void fill(char* part, int rank) {
  std::memset(part, 'a' + rank, static_cast<std::size_t>(5000 * (rank + 1)));
}

}  // namespace

// Stands for NCCL's own function: brings the parts of all ranks.
ncclResult_t own_gather(void* state, int* ranks, int rank, int count, void* all,
                        int bytes) __asm__("__real__Z27bootstrapIntraNodeAllGatherPvPiiiS_i");
ncclResult_t own_gather(void* state, int*, int rank, int count, void* all, int bytes) {
  gathered.push_back(bytes);
  for (int other = 0; other < count; ++other) {
    if (other == rank) continue;
    char* part = static_cast<char*>(all) + static_cast<std::ptrdiff_t>(other) * bytes;
    if (bytes == static_cast<int>(sizeof(int))) {
      const int used = 5000 * (other + 1);
      std::memcpy(part, &used, sizeof used);
    } else {
      std::memset(part, 0, static_cast<std::size_t>(bytes));
      fill(part, other);
    }
  }
  return state ? ncclSystemError : ncclSuccess;
}
ncclResult_t gather(void* state, int* ranks, int rank, int count, void* all,
                    int bytes) __asm__("__wrap__Z27bootstrapIntraNodeAllGatherPvPiiiS_i");

namespace {

TEST(TopologyGather, BringsWhatTheOwnGatherBringsInLessThanItsBytes) {
  std::vector<char> all(static_cast<std::size_t>(kRanks) * kBytes,
                        'x');  // also what was there before is gone
  std::memset(all.data() + kBytes, 0, kBytes);
  fill(all.data() + kBytes, 1);
  gathered.clear();
  ASSERT_EQ(gather(nullptr, nullptr, 1, kRanks, all.data(), kBytes), ncclSuccess);
  std::vector<char> wanted(static_cast<std::size_t>(kRanks) * kBytes, 0);
  for (int rank = 0; rank < kRanks; ++rank)
    fill(wanted.data() + static_cast<std::ptrdiff_t>(rank) * kBytes, rank);
  EXPECT_TRUE(all == wanted);
  EXPECT_THAT(gathered, testing::ElementsAre(sizeof(int), 15000));
}

TEST(TopologyGather, LeavesSmallExchangesToTheOwnGather) {
  std::vector<int> all(kRanks, 7);
  gathered.clear();
  ASSERT_EQ(gather(nullptr, nullptr, 1, kRanks, all.data(), sizeof(int)), ncclSuccess);
  EXPECT_THAT(all, testing::ElementsAre(5000, 7, 15000));
  EXPECT_THAT(gathered, testing::ElementsAre(sizeof(int)));
}

TEST(TopologyGather, GivesTheErrorOfTheOwnGather) {
  std::vector<char> all(static_cast<std::size_t>(kRanks) * kBytes);
  EXPECT_EQ(gather(all.data(), nullptr, 1, kRanks, all.data(), kBytes), ncclSystemError);
}

class SocketWaits : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  void TearDown() override {
    for (int end : ends_) close(end);
  }
  ssize_t ask() {
    errno = 0;
    return recv(ends_[0], &got_, 1, MSG_DONTWAIT);
  }

  int ends_[2] = {-1, -1};
  char got_ = 0;
};

TEST_F(SocketWaits, ASocketWithNothingStillSaysThatItHasNothing) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask(), -1);
    EXPECT_EQ(errno, EAGAIN);
  }
}

TEST_F(SocketWaits, WhatComesIsGivenAndTheEndToo) {
  while (ask() < 0 && got_ == 0) ASSERT_EQ(write(ends_[1], "k", 1), 1);
  EXPECT_EQ(got_, 'k');
  close(ends_[1]);
  ends_[1] = -1;
  while (ask() > 0) continue;
  EXPECT_EQ(ask(), 0);
}

TEST_F(SocketWaits, AThreadThatAsksOneSocketAgainSleeps) {
  std::atomic<int> asked = 0;
  std::thread other([&] {
    while (asked < 10) std::this_thread::yield();
    ASSERT_EQ(write(ends_[1], "k", 1), 1);
  });
  const auto begin = std::chrono::steady_clock::now();
  while (ask() < 0) ++asked;
  other.join();
  EXPECT_EQ(got_, 'k');
  // 0 ms, then 1, 2, 4 and six times 8; a loaded machine takes longer
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(55));
}

}  // namespace
