// Connection: frames between a tool and a node over a real socket, and streams that are cut, changed or
// endless.
#include "harness/nodes/connection.h"

#include <gmock/gmock.h>

#include "tests/nodes/meet.h"

namespace rankfault::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A socket that listens and that the test serves by itself.
class FakeTool {
 public:
  FakeTool() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
  }
  int port() const { return local_address_of(socket_.get()).port(); }
  RawPeer accept() { return RawPeer(UniqueFd(::accept(socket_.get(), nullptr, nullptr))); }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

std::string error_of(std::future<Result<Connection>> node) {
  const Result<Connection> result = node.get();
  return result ? "" : result.error().message;
}

// A tool's connection to a raw peer that has proved the key.
struct RawNode {
  RawNode() : key(RunKey::fresh()), listener(listener_here(key)), peer(listener.port()) {
    serve(listener, [&](size_t) { return listener.unproved() == 1; });
    hello = peer.read<Hello>();
    tags = peer.prove(key, hello);
    tool = std::move(serve(listener, [](size_t n) { return n == 1; }).at(0));
    peer.read<Proof>();
  }
  RunKey key;
  Listener listener;
  RawPeer peer;
  Hello hello;
  std::optional<FrameTags> tags;
  std::optional<Connection> tool;
};

TEST(Connection, CarriesFramesBothWays) {
  Met met = meet();
  met.node.send(1, "from the node");
  met.node.send(2, "");
  met.tool.send(3, std::string(kMostPayloadBytes, 'x'));
  EXPECT_TRUE(met.node.wants_write());
  ASSERT_TRUE(met.node.flush().ok());
  EXPECT_FALSE(met.node.wants_write());
  const std::vector<WireFrame> there = frames_of(met.tool, 2);
  ASSERT_EQ(there.size(), 2u);
  EXPECT_EQ(there[0].type, 1);
  EXPECT_EQ(there[0].payload, "from the node");
  EXPECT_EQ(there[1].type, 2);
  EXPECT_EQ(there[1].payload, "");
  EXPECT_EQ(met.node.bytes_sent(), met.tool.bytes_received());

  std::vector<WireFrame> back;
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(met.tool.flush().ok());
    EXPECT_TRUE(met.node.receive().ok());
    while (auto frame = met.node.next()) back.push_back(std::move(*frame));
    return !back.empty();
  }));
  EXPECT_EQ(back[0].payload.size(), kMostPayloadBytes);
  EXPECT_FALSE(met.tool.wants_write());
}

TEST(Connection, LastFramesOfANodeThatIsGoneAreDelivered) {
  Met met = meet();
  met.tool.send(9, "not read by the node");
  ASSERT_TRUE(met.tool.flush().ok());
  {
    Connection node = std::move(met.node);
    node.send(1, "last words");
    ASSERT_TRUE(node.flush().ok());
  }
  const std::vector<WireFrame> frames = frames_of(met.tool, 2);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, "last words");
  EXPECT_TRUE(met.tool.lost());
  EXPECT_EQ(met.tool.fd(), -1);
  EXPECT_THAT(met.tool.why_lost(), HasSubstr("127.0.0.1:"));
  met.tool.send(2, "nothing happens");
  EXPECT_FALSE(met.tool.wants_write());
  EXPECT_FALSE(met.tool.flush().ok());
}

TEST(Connection, IsLostWhenTheOtherSideTakesNothing) {
  Met met = meet();
  const std::string large(kMostPayloadBytes - 100, 'x');
  for (int i = 0; i < 4; ++i) met.tool.send(1, large);
  EXPECT_FALSE(met.tool.lost());
  met.tool.send(1, large);
  EXPECT_THAT(met.tool.why_lost(), HasSubstr("takes no data: 63 MiB wait for it"));
}

TEST(Connection, ReadsFramesThatAreSplitAnywhere) {
  const RunKey key = RunKey::fresh();
  const Nonce tool = fresh_nonce(), node = fresh_nonce();
  FrameTags tags(key, kNodeRole, tool, node);
  std::string stream;
  append_frame(stream, tags, 1, "one");
  append_frame(stream, tags, 2, "");
  append_frame(stream, tags, 3, std::string(300, 'x'));
  for (size_t split = 0; split <= stream.size(); ++split) {
    FrameReader reader(FrameTags(key, kNodeRole, tool, node));
    std::string types;
    for (const std::string_view part :
         {std::string_view(stream).substr(0, split), std::string_view(stream).substr(split)}) {
      reader.add(part);
      while (true) {
        const auto frame = reader.next();
        ASSERT_TRUE(frame.ok()) << split << ": " << frame.error().message;
        if (!*frame) break;
        types += std::to_string((*frame)->type);
      }
    }
    EXPECT_EQ(types, "123") << split;
    EXPECT_FALSE(reader.is_inside_a_frame());
  }
}

TEST(Connection, EveryChangedBitIsNoticed) {
  const RunKey key = RunKey::fresh();
  const Nonce tool = fresh_nonce(), node = fresh_nonce();
  FrameTags tags(key, kNodeRole, tool, node);
  std::string stream;
  append_frame(stream, tags, 1, "0123456789");
  for (size_t bit = 0; bit < 8 * stream.size(); ++bit) {
    std::string changed = stream;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    FrameReader reader(FrameTags(key, kNodeRole, tool, node));
    reader.add(changed);
    const auto frame = reader.next();
    EXPECT_TRUE(!frame.ok() || !*frame) << bit;
  }
}

TEST(Connection, AFrameThatIsRepeatedLeftOutOrSentBackIsNoticed) {
  const RunKey key = RunKey::fresh();
  const Nonce tool = fresh_nonce(), node = fresh_nonce();
  FrameTags tags(key, kNodeRole, tool, node);
  std::string first, second;
  append_frame(first, tags, 1, "same");
  append_frame(second, tags, 1, "same");
  FrameReader repeated(FrameTags(key, kNodeRole, tool, node));
  repeated.add(first + first);
  EXPECT_TRUE(repeated.next().ok());
  EXPECT_FALSE(repeated.next().ok());
  FrameReader left_out(FrameTags(key, kNodeRole, tool, node));
  left_out.add(second);
  EXPECT_FALSE(left_out.next().ok());
  FrameReader sent_back(FrameTags(key, kToolRole, tool, node));
  sent_back.add(first);
  EXPECT_FALSE(sent_back.next().ok());
}

TEST(Connection, AFrameWithAWrongTagEndsIt) {
  RawNode raw;
  std::string stream;
  append_frame(stream, *raw.tags, 1, "right");
  append_frame(stream, *raw.tags, 2, "wrong");
  stream.back() = static_cast<char>(stream.back() ^ 1);
  raw.peer.send(stream);
  EXPECT_EQ(frames_of(*raw.tool, 2).size(), 1u);
  EXPECT_THAT(raw.tool->why_lost(), HasSubstr("sent a frame that was changed"));
  EXPECT_TRUE(raw.peer.is_closed());
}

TEST(Connection, AFrameThatIsTooLargeEndsItAtOnce) {
  RawNode raw;
  raw.peer.send(Packer().u32(kMostPayloadBytes + 1).u16(1).payload());
  EXPECT_TRUE(frames_of(*raw.tool, 1).empty());
  EXPECT_THAT(raw.tool->why_lost(), HasSubstr("sent a frame of 16777217 bytes; 16777216 at most"));
  EXPECT_TRUE(raw.peer.is_closed());
}

TEST(Connection, AFrameThatIsCutIsNotDelivered) {
  RawNode raw;
  std::string stream;
  append_frame(stream, *raw.tags, 1, "whole");
  append_frame(stream, *raw.tags, 2, "cut");
  stream.pop_back();
  raw.peer.send(stream);
  raw.peer.close();
  EXPECT_EQ(frames_of(*raw.tool, 2).size(), 1u);
  EXPECT_THAT(raw.tool->why_lost(), HasSubstr("closed the connection in the middle of a frame"));
}

TEST(Connect, SaysThatANameDoesNotResolve) {
  const auto made = Connection::connect("n0..invalid", 1, RunKey::fresh(), 1s);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("n0..invalid: the name does not resolve"));
}

TEST(Connect, SaysThatNothingListens) {
  FakeTool tool;
  const int port = tool.port();
  tool.close();
  EXPECT_THAT(error_of(node_connects(port, RunKey::fresh())),
              HasSubstr("127.0.0.1:" + std::to_string(port) + ": connection refused"));
}

TEST(Connect, SaysThatTheOtherSideIsSilent) {
  FakeTool tool;  // the kernel accepts, and nothing comes
  EXPECT_THAT(error_of(node_connects(tool.port(), RunKey::fresh(), 50ms)), HasSubstr("is silent for 50ms"));
}

TEST(Connect, SaysThatNoAnswerComes) {
  // A backlog that is full: the kernel drops what more peers send.
  UniqueFd full(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(full.get(), reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(::listen(full.get(), 0), 0);
  const int port = local_address_of(full.get()).port();
  const RawPeer first(port);
  EXPECT_THAT(error_of(node_connects(port, RunKey::fresh(), 50ms)),
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(port) + ": no answer within 50ms"),
                    HasSubstr("is a firewall between this node and the tool?")));
}

TEST(Connect, SaysThatTheOtherSideIsAnotherProgram) {
  FakeTool tool;
  auto node = node_connects(tool.port(), RunKey::fresh());
  RawPeer peer = tool.accept();
  peer.send("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3 and so on\r\n");
  EXPECT_THAT(error_of(std::move(node)), HasSubstr("another program than rankfault"));

  auto other = node_connects(tool.port(), RunKey::fresh());
  RawPeer newer = tool.accept();
  Hello hello{};
  hello.magic[6] = 2;
  newer.send_value(hello);
  EXPECT_THAT(error_of(std::move(other)), HasSubstr("another version of rankfault"));
}

TEST(Connect, DoesNotTrustAToolWithoutTheKey) {
  const RunKey key = RunKey::fresh();
  FakeTool tool;
  auto node = node_connects(tool.port(), key);
  RawPeer peer = tool.accept();
  Hello hello{};
  peer.send_value(hello);
  const Answer answer = peer.read<Answer>();
  peer.send_value(answer.proof);  // the node's own proof, sent back
  EXPECT_THAT(error_of(std::move(node)), HasSubstr("its proof of the run's key is wrong"));
}

TEST(Connect, DoesNotTrustItsOwnProofWithItsOwnNonce) {
  const RunKey key = RunKey::fresh();
  FakeTool tool;
  auto first = node_connects(tool.port(), key), second = node_connects(tool.port(), key);
  RawPeer a = tool.accept(), b = tool.accept();
  Hello hello{};
  a.send_value(hello);
  const Answer of_a = a.read<Answer>();
  hello.tool_nonce = of_a.node_nonce;  // the second node is to make the proof for the first
  b.send_value(hello);
  a.send_value(b.read<Answer>().proof);
  b.close();
  EXPECT_THAT(error_of(std::move(first)) + error_of(std::move(second)),
              HasSubstr("its proof of the run's key is wrong"));
}

}  // namespace
}  // namespace rankfault::test
