// Listener: which peers become connections, and how fast all others are dropped.
#include "harness/nodes/listener.h"

#include <gmock/gmock.h>

#include "tests/nodes/meet.h"

namespace rankfault::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ListenerTest : public ::testing::Test {
 protected:
  std::string refusal(const std::string& where) const {
    const Result<Listener> listener = Listener::open(where, key_);
    return listener ? "" : listener.error().message;
  }
  // Until this many peers were accepted and wait for their proof.
  void await_unproved(size_t count, Instant now) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(listener_.accept_proved(now).empty());
      return listener_.unproved() == count;
    }));
  }
  void await_dropped(Instant now) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(listener_.accept_proved(now).empty());
      return !listener_.dropped().empty();
    }));
  }

  const RunKey key_ = RunKey::fresh();
  Listener listener_ = listener_here(key_);
  const Instant begin_ = HostClock::now();
};

TEST_F(ListenerTest, OpensAtAnInterfaceAnAddressOrAName) {
  for (const char* where : {"lo", "127.0.0.1", "localhost"}) EXPECT_EQ(refusal(where), "") << where;
  EXPECT_EQ(listener_.address(), "127.0.0.1");
  EXPECT_GT(listener_.port(), 0);
  for (const InterfaceAddress& own : own_addresses()) EXPECT_EQ(refusal(own.address.text()), "");
}

TEST_F(ListenerTest, RefusesWhatIsNoAddressOfThisHost) {
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("name the interface or the address"), HasSubstr("lo 127.0.0.1")));
  EXPECT_THAT(refusal("0.0.0.0"), HasSubstr("means every interface"));
  EXPECT_THAT(refusal("::"), HasSubstr("means every interface"));
  EXPECT_THAT(refusal("192.0.2.1"),
              AllOf(HasSubstr("192.0.2.1 is not an interface"), HasSubstr("lo 127.0.0.1")));
  EXPECT_THAT(refusal("n0..invalid"), HasSubstr("is not an interface, an address or a name"));
}

TEST_F(ListenerTest, ProvesANodeWithTheKey) {
  auto node = node_connects(listener_.port(), key_);
  EXPECT_EQ(serve(listener_, [](size_t proved) { return proved == 1; }).size(), 1u);
  EXPECT_TRUE(node.get().ok());
  EXPECT_EQ(listener_.unproved(), 0u);
  EXPECT_TRUE(listener_.dropped().empty());
}

TEST_F(ListenerTest, DropsANodeWithAnotherKey) {
  auto node = node_connects(listener_.port(), RunKey::fresh());
  EXPECT_TRUE(serve(listener_, [&](size_t) { return is_over(node); }).empty());
  const Result<Connection> made = node.get();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message,
              HasSubstr("the run's key is another one, or the tool is another version"));
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("a wrong proof of the run's key", 1)));
}

TEST_F(ListenerTest, DropsAPeerThatSendsAProofOfTheWrongRole) {
  RawPeer peer(listener_.port());
  await_unproved(1, begin_);
  const Hello hello = peer.read<Hello>();
  peer.prove(key_, hello, kToolRole);
  await_dropped(begin_);
  EXPECT_TRUE(peer.is_closed());
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("a wrong proof of the run's key", 1)));
}

// Someone without the key lets the tool's own handshakes answer each other.
TEST_F(ListenerTest, DropsAProofThatWasRecordedOrReflected) {
  RawPeer node(listener_.port());
  await_unproved(1, begin_);
  const Hello hello = node.read<Hello>();
  Answer answer;
  answer.node_nonce = fresh_nonce();
  answer.proof = proof(key_, kNodeRole, answer.node_nonce, hello.tool_nonce);
  node.send_value(answer);
  std::vector<Connection> proved = serve(listener_, [](size_t n) { return n == 1; });
  const Proof of_tool = node.read<Proof>();

  RawPeer replays(listener_.port()), reflects(listener_.port());
  await_unproved(2, begin_);
  replays.send_value(answer);
  answer.node_nonce = reflects.read<Hello>().tool_nonce;
  answer.proof = of_tool;
  reflects.send_value(answer);
  EXPECT_TRUE(serve(listener_, [&](size_t) { return listener_.unproved() == 0; }).empty());
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("a wrong proof of the run's key", 2)));
}

TEST_F(ListenerTest, DropsAnotherProgram) {
  RawPeer peer(listener_.port());
  peer.send("GET / HTTP/1.1\r\nHost: n0.cluster.example:4711\r\nUser-Agent: scanner/1.0 (all ports)\r\n\r\n");
  await_dropped(begin_);
  EXPECT_TRUE(peer.is_closed());
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("another program or another version", 1)));
}

TEST_F(ListenerTest, ReadsNothingOfAMebibyteOfGarbage) {
  RawPeer peer(listener_.port());
  peer.send(std::string(size_t{1} << 20, '\xff'));
  await_dropped(begin_);
  EXPECT_EQ(listener_.unproved(), 0u);
  EXPECT_TRUE(peer.is_closed());
}

TEST_F(ListenerTest, DropsASilentPeerAfterASecond) {
  RawPeer silent(listener_.port());
  await_unproved(1, begin_);
  EXPECT_EQ(listener_.wakes_at(), begin_ + kProofLimit);
  listener_.accept_proved(begin_ + 999ms);
  EXPECT_EQ(listener_.unproved(), 1u);
  listener_.accept_proved(begin_ + 1s);
  EXPECT_EQ(listener_.unproved(), 0u);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("no proof within 1s", 1)));
  EXPECT_EQ(listener_.wakes_at(), kEndOfTime);
}

TEST_F(ListenerTest, DropsASlowPeerAfterASecondTooHoweverItSpreadsItsBytes) {
  RawPeer slow(listener_.port());
  await_unproved(1, begin_);
  for (int i = 0; i < 10; ++i) {
    slow.send("R");
    listener_.accept_proved(begin_ + i * 100ms);
  }
  listener_.accept_proved(begin_ + 1s);
  EXPECT_EQ(listener_.unproved(), 0u);
}

// The tool itself was busy for longer than a second, and the answer was there in time.
TEST_F(ListenerTest, TakesAnAnswerThatWaitedForTheTool) {
  RawPeer node(listener_.port());
  await_unproved(1, begin_);
  node.prove(key_, node.read<Hello>());
  std::vector<Connection> proved;
  EXPECT_TRUE(eventually([&] {
    std::vector<pollfd> polls;
    listener_.add_polls(polls);
    return ::poll(polls.data(), polls.size(), 0) == 1;
  }));
  EXPECT_EQ(listener_.accept_proved(begin_ + 5s).size(), 1u);
}

TEST_F(ListenerTest, AHundredSilentPeersDoNotKeepANodeOut) {
  std::vector<RawPeer> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(listener_.port());
  await_unproved(Listener::kMostUnproved, begin_);
  std::vector<pollfd> polls;
  listener_.add_polls(polls);
  EXPECT_EQ(polls.size(), Listener::kMostUnproved)
      << "a socket with waiting peers would not let poll() sleep";
  EXPECT_EQ(listener_.wakes_at(), begin_ + Listener::kProtected);
  auto node = node_connects(listener_.port(), key_);
  EXPECT_EQ(serve(listener_, [](size_t proved) { return proved == 1; }).size(), 1u);
  EXPECT_TRUE(node.get().ok());
  EXPECT_LE(listener_.unproved(), Listener::kMostUnproved);
}

TEST_F(ListenerTest, ANodeThatCameFirstHasItsTime) {
  RawPeer node(listener_.port());
  await_unproved(1, begin_);
  std::vector<RawPeer> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(listener_.port());
  await_unproved(Listener::kMostUnproved, begin_);
  node.prove(key_, node.read<Hello>());
  EXPECT_EQ(serve(listener_, [](size_t proved) { return proved == 1; }).size(), 1u);
}

TEST_F(ListenerTest, CountsAPeerThatGoesAway) {
  RawPeer peer(listener_.port());
  await_unproved(1, begin_);
  peer.close();
  await_dropped(begin_);
  EXPECT_THAT(listener_.dropped(), ElementsAre(Pair("closed before its proof", 1)));
}

}  // namespace
}  // namespace rankfault::test
