#include "harness/nodes/remote_node.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace rankfault {
namespace {

constexpr Duration kPingEvery = 500ms;
constexpr size_t kMostCopies = 65'536;
constexpr size_t kMostEarly = 100'000;
constexpr uint64_t kMostPython = uint64_t{1} << 30;  // bytes of a file of Python frames

std::string stem_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

Status write_at(const std::string& path, uint64_t offset, const std::string& bytes, bool whole) {
  UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (whole ? O_TRUNC : 0), 0600));
  if (!fd.valid()) return errno_error("cannot write " + path, errno);
  const ssize_t n = ::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return n == static_cast<ssize_t>(bytes.size())
             ? Status(Done{})
             : errno_error("cannot write " + path, n < 0 ? errno : ENOSPC);
}

}  // namespace

void RemoteNode::replace_connection(RemoteNode& newer) {
  connection_ = std::move(newer.connection_);
  heard_ = newer.heard_;
  early_ = std::move(newer.early_);
  next_ping_ = {};
}

Status RemoteNode::receive(Instant now) {
  (void)connection_.flush();
  (void)connection_.receive();
  if (Status taken = take_early(now); !taken) return taken;
  while (const auto frame = connection_.next()) {
    heard_ = now;
    const auto type = static_cast<NodeMessage>(frame->type);
    if (!clock_.known() && type != NodeMessage::kHello && type != NodeMessage::kPong) {
      if (early_.size() >= kMostEarly) return usage_error("the node does not answer pings");
      early_.push_back(*frame);
      continue;
    }
    if (Status taken = take(*frame, now); !taken) return taken;
  }
  return take_early(now);
}

// What came before the clock was known; always before what comes later.
Status RemoteNode::take_early(Instant now) {
  while (clock_.known() && !early_.empty()) {
    const WireFrame frame = std::move(early_.front());
    early_.pop_front();
    if (Status taken = take(frame, now); !taken) return taken;
  }
  return Done{};
}

Status RemoteNode::take(const WireFrame& frame, Instant now) {
  switch (static_cast<NodeMessage>(frame.type)) {
    case NodeMessage::kHello:
      return take_hello(frame.payload);
    case NodeMessage::kPong:
      return take_pong(frame.payload, now);
    case NodeMessage::kFlight:
      return take_flight(frame.payload);
    case NodeMessage::kBeside:
      return take_beside(frame.payload);
    case NodeMessage::kFacts:
      return take_facts(frame.payload);
    case NodeMessage::kEnd:
      return take_end(frame.payload);
    case NodeMessage::kTask:
      return take_task(frame.payload);
    case NodeMessage::kSynced: {
      const Result<NumberMessage> m = unpack<NumberMessage>(frame.payload);
      if (!m) return m.error();
      answered_ = std::max(answered_, m->number);
      return Done{};
    }
    case NodeMessage::kLine:
      return take_line(frame.payload);
    case NodeMessage::kSaid:
      connection_.send(static_cast<uint16_t>(NodeMessage::kHeard), frame.payload);
      (void)connection_.flush();
      return Done{};
    default:
      return usage_error(fmt::format("no guardian sends a message of type {}", frame.type));
  }
}

Status RemoteNode::take_hello(const std::string& payload) {
  if (const uint32_t protocol = Unpacker(payload).u32(); protocol != kNodeProtocol)
    return usage_error(
        fmt::format("its rankfault speaks protocol {}, and this one {}: install the same version on "
                    "all nodes",
                    protocol, kNodeProtocol));
  const Result<HelloMessage> hello = unpack<HelloMessage>(payload);
  if (!hello) return hello.error();
  if (hello->node.empty()) return usage_error("the node has no name");
  hello_ = *hello;
  return Done{};
}

// The first pings follow each other at once, because nothing can be dated before.
Status RemoteNode::take_pong(const std::string& payload, Instant now) {
  const Result<PingMessage> pong = unpack<PingMessage>(payload);
  if (!pong) return pong.error();
  clock_.add({pong->sent, pong->node_received, pong->node_answered, now});
  if (!clock_.known()) next_ping_ = now;
  return Done{};
}

void RemoteNode::ping(Instant now) {
  if (connection_.lost() || now < next_ping_) return;
  next_ping_ = now + kPingEvery;
  connection_.send(static_cast<uint16_t>(NodeMessage::kPing), pack(PingMessage{HostClock::now(), {}, {}}));
  (void)connection_.flush();
}

void RemoteNode::ask(uint64_t number) {
  connection_.send(static_cast<uint16_t>(NodeMessage::kSync), pack(NumberMessage{number}));
  (void)connection_.flush();
}

Result<RemoteNode::Copy*> RemoteNode::copy_of(const std::string& name) {
  const auto process = process_id_from(stem_of(name));
  if (!process) return usage_error(fmt::format("\"{}\" is not the name of a flight record", name));
  if (const auto at = copies_.find(*process); at != copies_.end()) return &at->second;
  if (copies_.size() >= kMostCopies) return usage_error("the node sends too many flight records");
  Result<FlightMirror> mirror = FlightMirror::create(records_, name);
  if (!mirror) return mirror.error();
  return &copies_.emplace(*process, Copy{std::move(*mirror), {}}).first->second;
}

Status RemoteNode::take_flight(const std::string& payload) {
  Result<FlightMessage> m = unpack<FlightMessage>(payload);
  if (!m) return m.error();
  const Result<Copy*> copy = copy_of(m->name);
  if (!copy) return copy.error();
  (*copy)->is_of_one_instant = m->change.is_of_one_instant;
  return (*copy)->mirror.apply(std::move(m->change), clock_.fixed_ns());
}

Status RemoteNode::take_beside(const std::string& payload) {
  const Result<BesideMessage> m = unpack<BesideMessage>(payload);
  if (!m) return m.error();
  const Result<Copy*> copy = copy_of(m->name);
  if (!copy) return copy.error();
  if (m->offset > kMostPython) return usage_error("the file of Python frames is too large");
  const std::string stem = records_ + "/" + stem_of(m->name);
  if (m->what == BesideMessage::What::kPython) return write_at(stem + ".python", m->offset, m->bytes, false);
  (*copy)->has_maps = true;
  return write_at(stem + ".maps", 0, m->bytes, true);
}

Status RemoteNode::take_facts(const std::string& payload) {
  Result<FactsMessage> m = unpack<FactsMessage>(payload);
  if (!m) return m.error();
  const auto process = process_id_from(m->process);
  if (const auto at = process ? copies_.find(*process) : copies_.end(); at != copies_.end()) {
    m->busy_at = clock_.tool_time(m->busy_at);
    at->second.facts = std::move(*m);
  }
  return Done{};
}

Status RemoteNode::take_end(const std::string& payload) {
  const Result<EndMessage> m = unpack<EndMessage>(payload);
  if (!m) return m.error();
  Result<RankEnd> end = end_of(*m);
  if (!end) return end.error();
  end->time = clock_.tool_time(end->time);
  end->outlived = clock_.tool_time(end->outlived);
  ends_.push_back(std::move(*end));
  return Done{};
}

Status RemoteNode::take_task(const std::string& payload) {
  const Result<TaskMessage> m = unpack<TaskMessage>(payload);
  if (!m) return m.error();
  ended_[{m->pid, m->start}] = m->ended;
  return Done{};
}

namespace {

// Every time in an event.
template <HasKeys T>
void convert_times_of(T& event, const ClockOffset& clock) {
  T::keys([&](const char*, auto member, const char* = "") {
    auto& value = event.*member;
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, Instant>)
      value = clock.tool_time(value);
    else if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, std::optional<Instant>>)
      if (value) value = clock.tool_time(*value);
  });
}

}  // namespace

Status RemoteNode::take_line(const std::string& payload) {
  const Result<TextMessage> m = unpack<TextMessage>(payload);
  if (!m) return m.error();
  const Json json = Json::parse(m->text, nullptr, false);
  if (json.is_discarded()) return usage_error("a line of its journal is not JSON");
  Result<JournalLine> line = journal_line(json);
  if (!line) return line.error();
  line->t = clock_.tool_time(line->t);
  std::visit(
      [&](auto& event) {
        if constexpr (HasKeys<std::remove_reference_t<decltype(event)>>) convert_times_of(event, clock_);
      },
      line->event);
  lines_.push_back(std::move(*line));
  return Done{};
}

bool RemoteNode::all_tasks_ended() const {
  return !ended_.empty() &&
         std::all_of(ended_.begin(), ended_.end(), [](const auto& task) { return task.second; });
}

bool RemoteNode::is_of_one_instant(const ProcessId& process) const {
  const auto at = copies_.find(process);
  return at != copies_.end() && at->second.is_of_one_instant;
}

bool RemoteNode::has_unread_end(const ProcessId& process) const {
  return std::any_of(ends_.begin(), ends_.end(), [&](const RankEnd& end) { return end.process == process; });
}

void RemoteNode::add_facts(ProcessView& view) const {
  const auto at = copies_.find(view.id);
  if (at == copies_.end() || view.end.kind != EndKind::kAlive) return;
  const FactsMessage& facts = at->second.facts;
  view.stopped = facts.stopped;
  view.dying = facts.dying;
  view.threads = facts.threads;
  view.busy_at = facts.busy_at;
  std::erase_if(view.own_threads, [&](uint32_t thread) {
    return std::find(facts.own_threads.begin(), facts.own_threads.end(), thread) == facts.own_threads.end();
  });
  for (LaneView& lane : view.lanes)
    for (const auto& [index, state] : facts.lanes)
      if (lane.index == index) lane.thread_state = state;
}

std::string RemoteNode::maps_of(const ProcessId& process) const {
  const auto at = copies_.find(process);
  return at != copies_.end() && at->second.has_maps ? records_ + "/" + process.to_string() + ".maps" : "";
}

}  // namespace rankfault
