#include "harness/nodes/remote_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/log.h"
#include "harness/base/printable.h"
#include "harness/journal/rank_end_line.h"

namespace rankfault {
namespace {

constexpr Duration kRenewLimit = 100ms;

bool is_asked(const RemoteNode& node) { return !node.is_silent && !node.connection().lost(); }

}  // namespace

void RemoteNodes::add_polls(std::vector<pollfd>& polls) const {
  listener_.add_polls(polls);
  for (const auto* list : {&nodes_, &new_})
    for (const RemoteNode& node : *list)
      polls.push_back({node.connection().fd(),
                       static_cast<short>(POLLIN | (node.connection().wants_write() ? POLLOUT : 0)), 0});
}

void RemoteNodes::serve(Instant now) {
  for (Connection& connection : listener_.accept_proved(now)) {
    connection.send(static_cast<uint16_t>(NodeMessage::kPlan), pack(TextMessage{plan_}));
    new_.emplace_back(std::move(connection), records_, now);
  }
  for (auto node = new_.begin(); node != new_.end();) {
    const auto next = std::next(node);
    serve(*node, now);
    if (node->connection().lost())
      new_.erase(node);
    else if (node->has_said_hello())
      note_hello(node);
    node = next;
  }
  for (RemoteNode& node : nodes_) {
    serve(node, now);
    take_lines(node);
    note_silence(node, now);
  }
}

void RemoteNodes::serve(RemoteNode& node, Instant now) {
  node.ping(now);
  const std::string peer = node.connection().peer();
  if (const Status received = node.receive(now); !received) {
    tool_log(LogLevel::kWarn, "node {}: {}", printable(node.hello().node.empty() ? peer : node.hello().node),
             received.error().message);
    journal_.write(events::Node{node.hello().node, peer, "refused", received.error().message});
    node.connection().drop(received.error().message);
  }
}

// A guardian that connects again takes the place of its old connection.
void RemoteNodes::note_hello(std::list<RemoteNode>::iterator node) {
  const std::string name = node->hello().node, peer = node->connection().peer();
  const auto known =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const RemoteNode& n) { return n.hello().node == name; });
  if (known == nodes_.end()) {
    nodes_.splice(nodes_.end(), new_, node);
    journal_.write(events::Node{name, peer, "joined", ""});
    return;
  }
  known->replace_connection(*node);
  new_.erase(node);
}

// A guardian whose connection is closed has left, or connects again, or was killed with the whole job: only
// time tells.
void RemoteNodes::note_silence(RemoteNode& node, Instant now) {
  const bool left = node.has_left(), silent = left || now - node.heard() > kSilent;
  if (silent == node.is_silent) return;
  node.is_silent = silent;
  news_ = news_ || !left;
  events::Node line{node.hello().node, node.connection().peer(), "back", ""};
  if (silent) line.state = left ? "left" : "silent";
  if (silent && !left) line.why = node.connection().why_lost();
  journal_.write(line);
}

std::vector<RankEnd> RemoteNodes::take_ends() {
  std::vector<RankEnd> all;
  for (RemoteNode& node : nodes_)
    for (RankEnd& end : node.take_ends()) {
      journal_.write(line_of(end));
      all.push_back(std::move(end));
    }
  return all;
}

// What was done to a rank changes what a look sees.
void RemoteNodes::take_lines(RemoteNode& node) {
  for (const JournalLine& line : node.take_lines()) {
    news_ = true;
    std::visit(
        [&](const auto& event) {
          if constexpr (HasKeys<std::decay_t<decltype(event)>>) journal_.write_at(line.t, event);
        },
        line.event);
  }
}

void RemoteNodes::poll_for(Duration span) {
  std::vector<pollfd> polls;
  add_polls(polls);
  const timespec timeout{0, std::max<Duration>(span, 0ns).count()};
  ::ppoll(polls.data(), polls.size(), &timeout, nullptr);
  serve(HostClock::now());
}

void RemoteNodes::renew() {
  ++asked_;
  for (RemoteNode& node : nodes_)
    if (is_asked(node)) node.ask(asked_);
  const Instant until = HostClock::now() + kRenewLimit;
  const auto waits = [&](const RemoteNode& node) { return is_asked(node) && !node.has_answered(asked_); };
  while (std::any_of(nodes_.begin(), nodes_.end(), waits) && HostClock::now() < until)
    poll_for(until - HostClock::now());
}

const RemoteNode* RemoteNodes::node_of(const ProcessId& process) const {
  const auto at =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const RemoteNode& n) { return n.has(process); });
  return at == nodes_.end() ? nullptr : &*at;
}

bool RemoteNodes::describe(ProcessView& view) const {
  const RemoteNode* node = node_of(view.id);
  if (!node) return false;
  view.node = node->hello().node;
  view.clock_error =
      node->clock().error(Instant(HostClock::now().time_since_epoch() + Duration(node->clock().fixed_ns())));
  const bool left = node->has_left();
  if (node->is_silent && !left) view.unheard_since = node->heard();
  const bool answered = left || (is_asked(*node) && node->has_answered(asked_));
  view.stable = view.stable && answered && node->is_of_one_instant(view.id) && !node->has_unread_end(view.id);
  node->add_facts(view);
  return true;
}

std::string RemoteNodes::maps_of(const ProcessId& process) const {
  const RemoteNode* node = node_of(process);
  return node ? node->maps_of(process) : "";
}

void RemoteNodes::quit(Duration limit) {
  for (RemoteNode& node : nodes_) node.connection().send(static_cast<uint16_t>(NodeMessage::kQuit), "");
  const Instant until = HostClock::now() + limit;
  const auto stays = [](const RemoteNode& node) { return is_asked(node); };
  while (std::any_of(nodes_.begin(), nodes_.end(), stays) && HostClock::now() < until)
    poll_for(std::min<Duration>(until - HostClock::now(), 100ms));
}

}  // namespace rankfault
