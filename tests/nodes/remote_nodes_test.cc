// RemoteNodes: what the tool makes of what guardians say, right or wrong, and of their silence.
#include "harness/nodes/remote_nodes.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "harness/observe/ring_reader.h"
#include "tests/nodes/meet.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

constexpr Duration kAhead = 1000s;  // the node's clock

// Says what a guardian says.
class FakeGuardian {
 public:
  FakeGuardian(int port, const RunKey& key) : made_(node_connects(port, key)) {}
  bool is_connected() {
    if (!connection_ && is_over(made_)) connection_.emplace(std::move(*made_.get()));
    return connection_.has_value();
  }
  void say(NodeMessage type, const std::string& payload) {
    connection_->send(static_cast<uint16_t>(type), payload);
    (void)connection_->flush();
  }
  void hello(const std::string& name, uint32_t protocol = kNodeProtocol) {
    say(NodeMessage::kHello, pack(HelloMessage{protocol, "0", name}));
  }
  // Answers pings and questions. Returns the plan when it came.
  void serve() {
    (void)connection_->receive();
    while (const auto frame = connection_->next()) {
      if (static_cast<NodeMessage>(frame->type) == NodeMessage::kPlan)
        plan = unpack<TextMessage>(frame->payload)->text;
      if (static_cast<NodeMessage>(frame->type) == NodeMessage::kSync)
        say(NodeMessage::kSynced, frame->payload);
      if (static_cast<NodeMessage>(frame->type) != NodeMessage::kPing || silent) continue;
      PingMessage ping = *unpack<PingMessage>(frame->payload);
      ping.node_received = ping.node_answered = HostClock::now() + kAhead;
      say(NodeMessage::kPong, pack(ping));
    }
  }
  void leave() { connection_.reset(); }
  bool is_dropped() {
    (void)connection_->receive();
    return connection_->lost();
  }
  bool silent = false;
  std::optional<std::string> plan;

 private:
  std::future<Result<Connection>> made_;
  std::optional<Connection> connection_;
};

class RemoteNodesTest : public ::testing::Test {
 protected:
  RemoteNodesTest() { std::filesystem::create_directories(copies_); }
  FakeGuardian& guardian(const std::string& name) {
    FakeGuardian& made =
        *guardians_.emplace_back(std::make_unique<FakeGuardian>(nodes_.listener().port(), key_));
    EXPECT_TRUE(until([&] { return made.is_connected(); }));
    const size_t before = nodes_.nodes().size();
    made.hello(name);
    EXPECT_TRUE(
        until([&] { return nodes_.nodes().size() == before + 1 && nodes_.nodes().back().clock().known(); }));
    return made;
  }
  bool until(const std::function<bool()>& holds) {
    return eventually([&] {
      nodes_.serve(HostClock::now());
      for (auto& guardian : guardians_)
        if (guardian->is_connected()) guardian->serve();
      return holds();
    });
  }
  ProcessView described() {
    ProcessView view = (*RingReader::open(copies_ + "/" + id_.to_string() + ".ring"))->view();
    EXPECT_TRUE(nodes_.describe(view));
    return view;
  }
  void send_record(FakeGuardian& guardian) {
    FlightMessage message{id_.to_string() + ".ring", copy_.take(FlightCopy::Take::kAll)};
    guardian.say(NodeMessage::kFlight, pack(message));
    EXPECT_TRUE(until([&] { return std::filesystem::exists(copies_ + "/" + message.name); }));
  }
  std::string journal() const { return read_file(scratch_.file("journal.ndjson")); }

  Scratch scratch_;
  const std::string copies_ = scratch_.file("copies");
  Journal journal_ = std::move(*Journal::create(scratch_.file("journal.ndjson")));
  const RunKey key_ = RunKey::fresh();
  RemoteNodes nodes_{listener_here(key_), copies_, "{}", journal_};
  std::vector<std::unique_ptr<FakeGuardian>> guardians_;
  const ProcessId id_{5, 6, 7, 8, 0};
  testing::RingFileWriter writer_{scratch_.path(), id_, 2, 4, 1};
  FlightCopy copy_ = std::move(*FlightCopy::open(writer_.path()));
};

TEST_F(RemoteNodesTest, SendsThePlanFirstAndKnowsANodeByItsName) {
  EXPECT_EQ(guardian("n1").plan, "{}");
  EXPECT_EQ(nodes_.nodes().front().hello().node, "n1");
  EXPECT_THAT(journal(), HasSubstr(R"("state":"joined")"));
}

TEST_F(RemoteNodesTest, ConvertsTheTimesOfEndsAndLines) {
  FakeGuardian& n1 = guardian("n1");
  const Instant now = HostClock::now();
  RankEnd end;
  end.process = id_;
  end.rank = 2;
  end.time = now + kAhead;
  n1.say(NodeMessage::kEnd, pack(message_of(end)));
  events::FaultAsked asked;
  asked.fault = "kill";
  asked.asked_ns = now + kAhead;
  Json line = keys_to_json(asked);
  line.update({{"n", 1}, {"t", now + kAhead}, {"ev", "fault_asked"}});
  n1.say(NodeMessage::kLine, pack(TextMessage{line.dump()}));
  std::vector<RankEnd> ends;
  EXPECT_TRUE(until([&] { return !(ends = nodes_.take_ends()).empty(); }));
  EXPECT_LT(std::chrono::abs(ends.at(0).time - now), 1s);
  EXPECT_TRUE(until([&] { return journal().find("fault_asked") != std::string::npos; }));
  const auto lines = *read_journal(scratch_.file("journal.ndjson"));
  const auto found = lines_of<events::FaultAsked>(lines);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(std::chrono::abs(found[0].t - now), 1s);
  EXPECT_LT(std::chrono::abs(*found[0]->asked_ns - now), 1s);
}

TEST_F(RemoteNodesTest, ANodeThatAnswersHasNoSilence) {
  FakeGuardian& n1 = guardian("n1");
  send_record(n1);
  const ProcessView view = described();
  EXPECT_TRUE(view.stable);
  EXPECT_EQ(view.node, "n1");
  EXPECT_FALSE(is_known(view.unheard_since));
  EXPECT_LT(view.clock_error, 1s);
}

TEST_F(RemoteNodesTest, ASilentNodeIsSaidToBeUnheardAndMayComeBack) {
  FakeGuardian& n1 = guardian("n1");
  send_record(n1);
  n1.silent = true;
  const Instant later = HostClock::now() + kSilent + 1s;
  nodes_.serve(later);
  EXPECT_TRUE(nodes_.take_news());
  EXPECT_TRUE(is_known(described().unheard_since));
  EXPECT_FALSE(described().stable) << "nothing is proven with it";
  n1.silent = false;
  EXPECT_TRUE(until([&] { return !nodes_.nodes().front().is_silent; }));
  EXPECT_FALSE(is_known(described().unheard_since));
}

// A launcher that ends the job kills the guardians, too.
TEST_F(RemoteNodesTest, AClosedConnectionIsNoSilenceYetAndNothingIsProven) {
  FakeGuardian& n1 = guardian("n1");
  send_record(n1);
  n1.leave();
  EXPECT_TRUE(eventually([&] {
    nodes_.serve(HostClock::now());
    return nodes_.nodes().front().connection().lost();
  }));
  EXPECT_FALSE(is_known(described().unheard_since));
  EXPECT_FALSE(described().stable);
}

TEST_F(RemoteNodesTest, ANodeWhoseTasksHadEndedHasLeft) {
  FakeGuardian& n1 = guardian("n1");
  send_record(n1);
  n1.say(NodeMessage::kTask, pack(TaskMessage{7, 8, true}));
  EXPECT_TRUE(until([&] { return nodes_.nodes().front().all_tasks_ended(); }));
  n1.leave();
  EXPECT_TRUE(eventually([&] {
    nodes_.serve(HostClock::now());
    return nodes_.nodes().front().is_silent;
  }));
  EXPECT_FALSE(is_known(described().unheard_since));
  EXPECT_THAT(journal(), HasSubstr(R"("state":"left")"));
}

TEST_F(RemoteNodesTest, NonsenseEndsTheConnectionOfItsNodeAlone) {
  guardian("n1");
  const std::vector<std::pair<NodeMessage, std::string>> nonsense{
      {NodeMessage::kFlight, "x"},
      {NodeMessage::kFlight, pack(FlightMessage{"../../etc/passwd", {64, true, {}}})},
      {NodeMessage::kFlight, pack(FlightMessage{id_.to_string() + ".ring", {UINT64_MAX, true, {}}})},
      {NodeMessage::kBeside, pack(BesideMessage{BesideMessage::What::kPython, "/tmp/x.ring", 0, "x"})},
      {NodeMessage::kEnd, std::string(3, '\xff')},
      {NodeMessage::kLine, pack(TextMessage{"{"})},
      {NodeMessage::kLine, pack(TextMessage{R"({"ev":"fault_done"})"})},
      {NodeMessage::kPing, ""},
      {static_cast<NodeMessage>(999), ""}};
  int number = 1;
  for (const auto& [type, payload] : nonsense) {
    FakeGuardian& bad = guardian("n" + std::to_string(++number));
    bad.say(type, payload);
    EXPECT_TRUE(eventually([&] {
      nodes_.serve(HostClock::now());
      return bad.is_dropped();
    })) << static_cast<int>(type);
    bad.leave();
    guardians_.pop_back();
  }
  EXPECT_FALSE(nodes_.nodes().front().connection().lost());
  EXPECT_THAT(journal(), HasSubstr(R"("state":"refused")"));
}

TEST_F(RemoteNodesTest, AnotherVersionIsNamed) {
  FakeGuardian& old =
      *guardians_.emplace_back(std::make_unique<FakeGuardian>(nodes_.listener().port(), key_));
  EXPECT_TRUE(until([&] { return old.is_connected(); }));
  old.hello("n1", kNodeProtocol + 1);
  EXPECT_TRUE(eventually([&] {
    nodes_.serve(HostClock::now());
    return old.is_dropped();
  }));
  EXPECT_TRUE(nodes_.nodes().empty());
  EXPECT_THAT(journal(), HasSubstr("install the same version on all nodes"));
}

}  // namespace
}  // namespace rankfault::test
