#include "harness/node_guardian/node_guardian.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/base/version.h"

namespace rankfault {
namespace {

constexpr Duration kTick = 10ms, kScanEvery = 20ms, kStatesEvery = 100ms;
constexpr Duration kConnectEvery = 1s, kConnectLimit = 3s;
constexpr Duration kIdle = 10s;  // without a task and without a tool
constexpr uint64_t kMostBeside = 8'000'000;

std::string bytes_from(const std::string& path, uint64_t offset) {
  std::ifstream in(path, std::ios::binary);
  if (!in.seekg(static_cast<std::streamoff>(offset))) return "";
  std::ostringstream text;
  text << in.rdbuf();
  return text.str().substr(0, kMostBeside);
}

}  // namespace

NodeGuardian::NodeGuardian(NodeGuardianOptions options, Journal journal)
    : options_(std::move(options)),
      journal_(std::move(journal)),
      promptness_(realtime_wanted()),
      observer_(make_observer({options_.dir + "/records"}, HostClock::now())),
      ends_(journal_, nullptr, options_.dir + "/records", promptness_) {}

Result<std::unique_ptr<NodeGuardian>> NodeGuardian::start(NodeGuardianOptions options) {
  Result<Connection> tool = Connection::connect(options.host, options.port, options.key, kConnectLimit);
  if (!tool) return tool.error();
  Result<Journal> journal = Journal::create(options.dir + "/journal.ndjson");
  if (!journal) return journal.error();
  std::unique_ptr<NodeGuardian> guardian(new NodeGuardian(std::move(options), std::move(*journal)));
  guardian->tool_ = std::make_unique<Connection>(std::move(*tool));
  if (const Status armed = guardian->take_plan(); !armed) return armed.error();
  Result<Tasks> tasks = Tasks::listen(guardian->options_.dir);  // from now on tasks begin
  if (!tasks) return tasks.error();
  guardian->tasks_ = std::move(*tasks);
  guardian->send(NodeMessage::kHello, pack(HelloMessage{kNodeProtocol, kVersion, guardian->options_.node}));
  return guardian;
}

// The tool sends it first of all.
Status NodeGuardian::take_plan() {
  const Instant until = HostClock::now() + kConnectLimit;
  for (;;) {
    if (const Status received = tool_->receive(); !received) return received;
    if (const auto frame = tool_->next()) {
      if (static_cast<NodeMessage>(frame->type) != NodeMessage::kPlan)
        return usage_error("the tool is another version: it sends no plan first");
      const Result<TextMessage> plan = unpack<TextMessage>(frame->payload);
      if (!plan) return plan.error();
      heard_ = HostClock::now();
      if (plan->text.empty()) return Done{};
      Result<std::unique_ptr<NodeFaults>> faults =
          NodeFaults::arm(options_.dir, plan->text, options_.root, journal_);
      if (!faults) return faults.error();
      faults_ = std::move(*faults);
      return Done{};
    }
    if (HostClock::now() > until) return usage_error("the tool sends no plan");
    pollfd p{tool_->fd(), POLLIN, 0};
    ::poll(&p, 1, 100);
  }
}

void NodeGuardian::run() {
  for (;;) {
    wait();
    const Instant now = HostClock::now();
    if (faults_) faults_->serve();
    send_lines();
    take_tasks();
    if (now >= next_scan_) scan();
    take_ends();
    if (now >= next_states_) send_states();
    connect(now);
    take_messages(now);
    if (tool_) (void)tool_->flush();
    answer_tasks();
    promptness_.rests();
    if (is_over(now)) break;
  }
  if (job_over_) remove_folder();
}

// A task may end when the tool has taken all that was said of it, or cannot be reached. With the last one the
// tool gets what no later question can bring.
void NodeGuardian::answer_tasks() {
  if (ends_.waiting() || !tasks_->any_waits()) return;
  const bool last = tasks_->all_wait() && begun_ == options_.tasks;  // others may still begin
  if (tool_ && said_ == 0) {
    if (last && faults_) faults_->finish();
    send_lines();
    for (auto& [id, sent] : sent_) send_process(id, sent, FlightCopy::Take::kAll);
    send(NodeMessage::kSaid, pack(NumberMessage{said_ = ++asked_}));
    (void)tool_->flush();
  }
  if (tool_ && heard_number_ < said_) return;
  if (tool_ && last) remove_folder();
  said_ = 0;
  tasks_->answer();
}

// The lines of its journal about faults: only an Injector writes them.
void NodeGuardian::send_lines() {
  if (!faults_ || !tool_ || journal_.lines() == lines_sent_) return;
  lines_sent_ = journal_.lines();
  std::istringstream text(bytes_from(options_.dir + "/journal.ndjson", journal_bytes_));
  for (std::string line; std::getline(text, line);) {
    journal_bytes_ += line.size() + 1;
    if (line.find(R"("ev":"fault_)") != std::string::npos) send(NodeMessage::kLine, pack(TextMessage{line}));
  }
}

void NodeGuardian::remove_folder() {
  std::error_code error;
  std::filesystem::remove_all(options_.dir, error);
}

bool NodeGuardian::is_over(Instant now) {
  if (job_over_ || (options_.interrupted && *options_.interrupted)) return true;
  if (tool_ || !tasks_->none_left()) idle_since_ = now;
  return now - idle_since_ > kIdle;
}

void NodeGuardian::wait() {
  std::vector<pollfd> polls;
  tasks_->add_polls(polls);
  ends_.add_polls(polls);
  if (faults_) faults_->add_polls(polls);
  if (tool_)
    polls.push_back({tool_->fd(), static_cast<short>(POLLIN | (tool_->wants_write() ? POLLOUT : 0)), 0});
  const timespec tick{0, (ends_.waiting() ? kTick / 5 : kTick).count()};
  promptness_.sleeps();
  ::ppoll(polls.data(), polls.size(), &tick, nullptr);
  promptness_.wakes();
}

void NodeGuardian::connect(Instant now) {
  // A new connection reaches the tool sooner than TCP's next attempt on this one.
  if (tool_ && now - heard_ > kSilent) tool_->drop("the tool says nothing any more");
  if (tool_ && tool_->lost()) {
    fmt::print(stderr, "the tool: {}\n", tool_->why_lost());
    std::fflush(stderr);
    tool_.reset();
    said_ = 0;
    next_connect_ = now + kConnectEvery;
  }
  if (tool_ || now < next_connect_) return;
  next_connect_ = now + kConnectEvery;
  Result<Connection> made = Connection::connect(options_.host, options_.port, options_.key, kConnectEvery);
  if (!made) return;
  tool_ = std::make_unique<Connection>(std::move(*made));
  heard_ = HostClock::now();
  send(NodeMessage::kHello, pack(HelloMessage{kNodeProtocol, kVersion, options_.node}));
  for (auto& [id, sent] : sent_)  // all is sent again
    if (Result<FlightCopy> copy = FlightCopy::open(record_of(id))) sent = Sent{std::move(*copy)};
  for (const TaskMessage& task : told_tasks_) send(NodeMessage::kTask, pack(task));
  send_states();
  for (const RankEnd& end : told_ends_) send(NodeMessage::kEnd, pack(message_of(end)));
}

void NodeGuardian::send(NodeMessage type, const std::string& payload) {
  if (tool_) tool_->send(static_cast<uint16_t>(type), payload);
}

void NodeGuardian::take_messages(Instant now) {
  if (!tool_) return;
  (void)tool_->receive();
  while (const auto frame = tool_->next()) switch (static_cast<NodeMessage>(frame->type)) {
      case NodeMessage::kPing:
        if (Result<PingMessage> ping = unpack<PingMessage>(frame->payload)) {
          heard_ = now;
          ping->node_received = now;
          ping->node_answered = HostClock::now();
          send(NodeMessage::kPong, pack(*ping));
          (void)tool_->flush();
        }
        break;
      case NodeMessage::kSync:
        if (const Result<NumberMessage> sync = unpack<NumberMessage>(frame->payload))
          answer_sync(sync->number);
        break;
      case NodeMessage::kHeard:
        if (const Result<NumberMessage> heard = unpack<NumberMessage>(frame->payload))
          heard_number_ = heard->number;
        break;
      case NodeMessage::kQuit:
        job_over_ = true;
        break;
      default:
        break;
    }
}

void NodeGuardian::answer_sync(uint64_t number) {
  scan();
  for (auto& [id, sent] : sent_) send_process(id, sent, FlightCopy::Take::kAll);
  send_facts();
  send(NodeMessage::kSynced, pack(NumberMessage{number}));
}

void NodeGuardian::take_tasks() {
  for (const auto& [task, wait_status] : tasks_->take()) {
    told_tasks_.push_back(task);
    begun_ += !task.ended;
    send(NodeMessage::kTask, pack(task));
    if (!task.ended) continue;
    scan();  // the record may have appeared after the last scan
    ends_.reaped(task.pid, task.start, ExitStatus::from_wait_status(wait_status), HostClock::now());
  }
}

void NodeGuardian::scan() {
  next_scan_ = HostClock::now() + kScanEvery;
  for (const ProcessId& id : observer_->scan()) {
    const ProcessView* view = observer_->process(id);
    if (view) ends_.watch(id, view->rank, view->attempt, observer_->is_bystander(id));
    if (sent_.count(id)) continue;
    if (Result<FlightCopy> copy = FlightCopy::open(record_of(id))) {
      Sent& sent = sent_.emplace(id, Sent{std::move(*copy)}).first->second;
      send_process(id, sent, FlightCopy::Take::kState);
    }
  }
  for (const ProcessId& id : observer_->take_forgotten()) {
    ends_.forget(id);
    sent_.erase(id);
  }
}

// Its last state goes before the end.
void NodeGuardian::take_ends() {
  for (const RankEnd& end : ends_.collect()) {
    observer_->set_end(end);
    if (faults_) faults_->process_ended(end);
    if (const auto at = sent_.find(end.process); at != sent_.end())
      send_process(at->first, at->second, FlightCopy::Take::kAll);
    told_ends_.push_back(end);
    send(NodeMessage::kEnd, pack(message_of(end)));
  }
}

void NodeGuardian::send_states() {
  next_states_ = HostClock::now() + kStatesEvery;
  for (auto& [id, sent] : sent_) send_process(id, sent, FlightCopy::Take::kState);
}

void NodeGuardian::send_process(const ProcessId& id, Sent& sent, FlightCopy::Take what) {
  if (!tool_) return;
  FlightMessage message{id.to_string() + ".ring", sent.copy.take(what)};
  if (message.change.empty() && what == FlightCopy::Take::kState) return;
  send(NodeMessage::kFlight, pack(message));
  send_beside(id, sent);
}

void NodeGuardian::send_beside(const ProcessId& id, Sent& sent) {
  const std::string name = id.to_string() + ".ring";
  const uint32_t modules = sent.copy.modules_version();
  if (modules + 1 != sent.maps_of) {
    sent.maps_of = modules + 1;
    const std::string maps = bytes_from(fmt::format("/proc/{}/maps", id.pid), 0);
    if (!maps.empty())
      send(NodeMessage::kBeside, pack(BesideMessage{BesideMessage::What::kMaps, name, 0, maps}));
  }
  const std::string python = options_.dir + "/records/" + id.to_string() + ".python";
  struct stat file {};
  if (::stat(python.c_str(), &file) != 0 || static_cast<uint64_t>(file.st_size) <= sent.python_bytes) return;
  const std::string more = bytes_from(python, sent.python_bytes);
  send(NodeMessage::kBeside,
       pack(BesideMessage{BesideMessage::What::kPython, name, sent.python_bytes, more}));
  sent.python_bytes += more.size();
}

void NodeGuardian::send_facts() {
  for (const ProcessView& view : observer_->look(true, 1).processes) {
    if (view.end.kind != EndKind::kAlive) continue;
    FactsMessage facts;
    facts.process = view.id.to_string();
    facts.stopped = view.stopped;
    facts.dying = view.dying;
    facts.threads = view.threads;
    facts.own_threads = view.own_threads;
    facts.busy_at = view.busy_at;
    for (const LaneView& lane : view.lanes)
      if (lane.thread_state) facts.lanes.emplace_back(lane.index, lane.thread_state);
    send(NodeMessage::kFacts, pack(facts));
  }
}

}  // namespace rankfault
