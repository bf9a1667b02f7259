// Tests of the double's streams: real queues with CUDA's order, each with its own worker.
#include "cuda_double/core/streams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace cuda_double {
namespace {

Streams& all() { return Streams::all(); }

Entry entry(std::function<void()> work, bool quick = false) {
  return {[work = std::move(work)] {
            work();
            return true;
          },
          {},
          quick};
}

// Blocks a stream until it is opened.
struct Gate {
  void close(const StreamPtr& stream) {
    all().enqueue(stream, entry([this] { opened.get_future().wait(); }));
  }
  std::promise<void> opened;
};

bool reached_all(const StreamPtr& stream) { return all().reached(all().end_of(stream)); }

TEST(Streams, DoTheirEntriesInOrder) {
  const StreamPtr stream = all().make(0, false);
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) all().enqueue(stream, entry([&done, i] { done.push_back(i); }, i % 3 == 0));
  all().wait_for(all().end_of(stream));
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], i);
}

TEST(Streams, AHostFunctionThatWaitsBlocksNoOtherStream) {
  const StreamPtr blocked = all().make(0, false), other = all().make(0, false);
  Gate gate;
  gate.close(blocked);
  all().wait_for(all().enqueue(other, entry([] {})));
  EXPECT_FALSE(reached_all(blocked));
  gate.opened.set_value();
  all().wait_for(all().end_of(blocked));
}

TEST(Streams, AnEventIsReachedWhenAllBeforeItIs) {
  const StreamPtr blocked = all().make(0, false), waiting = all().make(0, false);
  Event never, event;
  EXPECT_TRUE(reached(never)) << "an event that was never recorded";
  Gate gate;
  gate.close(blocked);
  record(&event, blocked);
  std::atomic<bool> after{false};
  all().enqueue(waiting, {[&] { return after = true; }, {event.place}, true});
  all().wait_for(all().enqueue(all().make(0, false), entry([] {})));
  EXPECT_FALSE(reached(event));
  EXPECT_FALSE(after);
  gate.opened.set_value();
  all().wait_for(all().end_of(waiting));
  EXPECT_TRUE(reached(event));
  EXPECT_TRUE(after);
}

TEST(Streams, AWaitIsForTheEventAsItWasThen) {
  const StreamPtr stream = all().make(0, false), blocked = all().make(0, false),
                  waiting = all().make(0, false);
  Event event;
  record(&event, stream);
  const Place then = event.place;
  Gate gate;
  gate.close(blocked);
  record(&event, blocked);
  all().wait_for(all().enqueue(waiting, {[] { return true; }, {then}, true}));
  EXPECT_FALSE(reached(event));
  gate.opened.set_value();
  all().wait_for(all().end_of(blocked));
}

// The legacy default stream and the blocking streams of its device wait for each other. Other streams do not.
TEST(Streams, TheDefaultStreamWaitsForBlockingStreamsOfItsDevice) {
  const StreamPtr blocking = all().make(3, true), free = all().make(3, false),
                  elsewhere = all().make(4, true);
  const StreamPtr legacy = all().of(nullptr, 3);
  Gate gate, own;
  gate.close(blocking);
  all().enqueue(legacy, entry([] {}, true));
  all().wait_for(all().enqueue(free, entry([] {})));
  all().wait_for(all().enqueue(elsewhere, entry([] {})));
  all().wait_for(all().enqueue(all().of(nullptr, 4), entry([] {})));
  EXPECT_FALSE(reached_all(legacy));
  gate.opened.set_value();
  all().wait_for(all().end_of(legacy));
  own.close(legacy);
  all().enqueue(blocking, entry([] {}, true));
  all().wait_for(all().enqueue(free, entry([] {})));
  EXPECT_FALSE(reached_all(blocking));
  own.opened.set_value();
  all().wait_for(all().end_of(blocking));
}

TEST(Streams, AThreadsOwnDefaultStreamIsItsOwn) {
  const void* per_thread = reinterpret_cast<const void*>(2);
  const StreamPtr mine = all().of(per_thread, 0);
  EXPECT_EQ(mine, all().of(per_thread, 0));
  EXPECT_NE(mine, all().of(nullptr, 0));
  EXPECT_NE(mine, std::async(std::launch::async, [&] { return all().of(per_thread, 0); }).get());
}

TEST(Streams, ADestroyedStreamDoesWhatItHasAndIsNoHandleAnyMore) {
  const StreamPtr stream = all().make(0, false);
  Gate gate;
  gate.close(stream);
  const Place end = all().enqueue(stream, entry([] {}));
  EXPECT_EQ(all().destroy(stream.get()), kSuccess);
  EXPECT_EQ(all().destroy(stream.get()), kInvalidHandle);
  EXPECT_EQ(all().of(stream.get(), 0), nullptr);
  gate.opened.set_value();
  all().wait_for(end);
}

TEST(Streams, AnEntryThatIsNotDoneIsAskedAgainAfterAChange) {
  const StreamPtr stream = all().make(0, false);
  std::atomic<bool> may{false};
  const Place end = all().enqueue(stream, {[&] { return may.load(); }, {}, false});
  may = true;
  all().announce();
  all().wait_for(end);
}

}  // namespace
}  // namespace cuda_double
