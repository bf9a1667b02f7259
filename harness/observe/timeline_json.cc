// timeline_json: the state words of a look as one journal line, and back. Compact: lanes and
// communicators are arrays, in the order written at each writer below.
#include <fmt/format.h>

#include "harness/observe/record_names.h"
#include "harness/observe/timeline.h"

namespace rankfault {
namespace {

Json state_json(const rf_state& s) {
  return Json::array(
      {s.since_ns,   s.seq,           s.return_address, s.count, s.needs_mask, s.deadline_ns, s.pending[0],
       s.pending[1], s.pending_count, s.call,           s.comm,  s.peer,       s.tag,         s.version,
       s.op,         s.where,         s.library,        s.dtype, s.reduce_op,  s.flags,       s.last_result,
       s.recv_peer});
}

// Reads the elements of an array in order. A wrong type or a missing element throws, and state_from_json
// returns an error.
class Reader {
 public:
  explicit Reader(const Json& array) : array_(array) {}
  template <typename T>
  Reader& operator>>(T& out) {
    out = array_.at(next_++).get<T>();
    return *this;
  }
  template <typename T>
  T as() {
    return static_cast<T>(array_.at(next_++).get<int64_t>());
  }
  const Json& raw() { return array_.at(next_++); }

 private:
  const Json& array_;
  size_t next_ = 0;
};

rf_state state_of(const Json& array) {
  rf_state s{};
  Reader(array) >> s.since_ns >> s.seq >> s.return_address >> s.count >> s.needs_mask >> s.deadline_ns >>
      s.pending[0] >> s.pending[1] >> s.pending_count >> s.call >> s.comm >> s.peer >> s.tag >> s.version >>
      s.op >> s.where >> s.library >> s.dtype >> s.reduce_op >> s.flags >> s.last_result >> s.recv_peer;
  return s;
}

Json lane_json(const LaneView& l) {
  return Json::array({l.index, static_cast<int>(l.kind), l.owner, l.head, l.dropped,
                      static_cast<int>(l.thread_state), l.torn, state_json(l.state), l.first, l.first_mark,
                      l.polled});
}

LaneView lane_of(const Json& array) {
  LaneView l;
  Reader r(array);
  r >> l.index;
  l.kind = r.as<rf_lane_kind>();
  r >> l.owner >> l.head >> l.dropped;
  l.thread_state = r.as<char>();
  r >> l.torn;
  l.state = state_of(r.raw());
  if (array.size() > 8) r >> l.first >> l.first_mark;  // not in a line of an older tool
  if (array.size() > 10) r >> l.polled;
  if (l.index > RF_MAX_LANES) throw std::out_of_range("lane index");
  return l;
}

Json comm_json(const CommView& c) {
  return Json::array({c.index,
                      c.id,
                      c.parent,
                      c.parent_seq,
                      c.members_hash,
                      c.entered,
                      c.completed,
                      c.issuers,
                      c.sends,
                      c.receives,
                      c.calls,
                      c.timeout,
                      c.size,
                      c.flags,
                      c.ordinal,
                      c.tag,
                      c.error,
                      c.rank,
                      c.destroyed,
                      static_cast<int>(c.library),
                      static_cast<int>(c.identity),
                      c.name,
                      c.members,
                      c.failures});
}

CommView comm_of(const Json& array) {
  CommView c;
  Reader r(array);
  r >> c.index >> c.id >> c.parent >> c.parent_seq >> c.members_hash >> c.entered >> c.completed >>
      c.issuers >> c.sends >> c.receives >> c.calls >> c.timeout >> c.size >> c.flags >> c.ordinal >> c.tag >>
      c.error >> c.rank >> c.destroyed;
  c.library = r.as<rf_library>();
  c.identity = r.as<rf_identity>();
  r >> c.name >> c.members;
  if (array.size() > 23) r >> c.failures;  // not in a line of an older tool
  return c;
}

Json process_json(const ProcessView& p) {
  Json coverage = Json::array(), lanes = Json::array(), comms = Json::array(), sites = Json::array();
  for (const Coverage& c : p.coverage)
    coverage.push_back(
        {static_cast<int>(c.library), static_cast<int>(c.hook), c.version, c.decoder, c.reason});
  Json stops = Json::array();
  for (const Stop& s : p.stops) stops.push_back({s.first_seen, s.last_seen});
  for (const LaneView& l : p.lanes) lanes.push_back(lane_json(l));
  for (const CommView& c : p.comms) comms.push_back(comm_json(c));
  for (const auto& [address, text] : p.call_sites) {
    const auto line = p.source_lines.find(address);
    sites.push_back(line == p.source_lines.end() ? Json::array({address, text})
                                                 : Json::array({address, text, line->second}));
  }
  Json json = {
      {"process", p.id.to_string()},
      {"header", Json::array({static_cast<int>(p.stage), p.rank, p.world_size, p.attempt, p.generation,
                              p.partial, p.opaque, p.thread_multiple, p.steps_begun, p.steps_committed,
                              p.opened, p.member, p.stopped, p.stable, p.busy_at})},
      {"end", Json::array({static_cast<int>(p.end.kind), p.end.time, p.end.status_known, p.end.by_signal,
                           p.end.value})},
      {"outlived", p.end.outlived},
      {"execed", p.end.execed},
      {"helper", p.helper},
      {"starved", p.starved},
      {"measured_since", p.measured_since},
      {"dying", p.dying},
      {"polled", p.polled},
      {"threads", Json::array({p.threads, p.own_threads})},
      {"last_words", p.end.last_words},
      {"oom_kill_in", p.end.oom_kill_in},
      {"stops", std::move(stops)},
      {"lost", p.marks_lost ? Json::array({p.history_lost, *p.marks_lost}) : Json::array({p.history_lost})},
      {"coverage", std::move(coverage)},
      {"lanes", std::move(lanes)},
      {"comms", std::move(comms)},
      {"sites", std::move(sites)}};
  if (!p.node.empty()) json["node"] = Json::array({p.node, p.clock_error, p.unheard_since});
  return json;
}

ProcessView process_of(const Json& json) {
  ProcessView p;
  const auto id = process_id_from(json.at("process").get<std::string>());
  if (!id) throw std::out_of_range("process name");
  p.id = *id;
  Reader h(json.at("header"));
  p.stage = h.as<rf_stage>();
  h >> p.rank >> p.world_size >> p.attempt >> p.generation >> p.partial >> p.opaque >> p.thread_multiple >>
      p.steps_begun >> p.steps_committed >> p.opened >> p.member >> p.stopped >> p.stable >> p.busy_at;
  p.starved = json.value("starved", Duration{});  // not in a line of an older tool
  p.measured_since = json.value("measured_since", Instant{});
  p.dying = json.value("dying", false);
  p.polled = json.value("polled", false);
  if (const auto threads = json.find("threads"); threads != json.end()) {
    p.threads = threads->at(0).get<uint32_t>();
    if (threads->at(1).is_array()) p.own_threads = threads->at(1).get<std::vector<uint32_t>>();
  }
  for (const Json& s : json.value("stops", Json::array()))
    p.stops.push_back({s.at(0).get<Instant>(), s.at(1).get<Instant>()});
  if (const auto lost = json.find("lost"); lost != json.end()) {
    p.history_lost = lost->at(0).get<uint64_t>();
    if (lost->size() > 1) p.marks_lost = lost->at(1).get<uint64_t>();
  }
  Reader e(json.at("end"));
  p.end.kind = e.as<EndKind>();
  e >> p.end.time >> p.end.status_known >> p.end.by_signal >> p.end.value;
  p.end.outlived = json.value("outlived", Instant{});
  p.end.execed = json.value("execed", false);
  p.helper = json.value("helper", false);
  if (const auto node = json.find("node"); node != json.end())
    Reader(*node) >> p.node >> p.clock_error >> p.unheard_since;
  p.end.last_words = json.value("last_words", std::vector<std::string>{});
  p.end.oom_kill_in = json.value("oom_kill_in", "");
  for (const Json& one : json.at("coverage")) {
    Coverage c;
    Reader r(one);
    c.library = r.as<rf_library>();
    c.hook = r.as<rf_hook>();
    r >> c.version >> c.decoder >> c.reason;
    p.coverage.push_back(std::move(c));
  }
  for (const Json& l : json.at("lanes")) p.lanes.push_back(lane_of(l));
  for (const Json& c : json.at("comms")) p.comms.push_back(comm_of(c));
  for (const Json& s : json.at("sites")) {
    const auto address = s.at(0).get<uint64_t>();
    p.call_sites[address] = s.at(1).get<std::string>();
    if (s.size() > 2) p.source_lines[address] = s.at(2).get<std::string>();
  }
  return p;
}

}  // namespace

Json state_to_json(const Timeline& t) {
  Json expected = Json::array(), processes = Json::array();
  for (const ExpectedRank& e : t.expected) {
    expected.push_back(Json::array({e.rank, e.attempt, e.started}));
    if (e.unread) expected.back().push_back(true);
  }
  for (const ProcessView& p : t.processes) processes.push_back(process_json(p));
  return {{"begin", t.begin},
          {"look", t.look},
          {"world_size", t.world_size},
          {"attempt", t.attempt},
          {"consistent", t.consistent},
          {"job_over", t.job_over},
          {"job_status", t.job_status},
          {"launcher_ends_all", t.launcher_ends_all},
          {"expected", std::move(expected)},
          {"processes", std::move(processes)}};
}

Result<Timeline> state_from_json(const Json& json) try {
  Timeline t;
  t.begin = json.at("begin").get<Instant>();
  t.look = json.at("look").get<Instant>();
  t.world_size = json.at("world_size").get<int>();
  t.attempt = json.at("attempt").get<int>();
  t.consistent = json.at("consistent").get<bool>();
  t.job_over = json.at("job_over").get<bool>();
  t.job_status = json.value("job_status", JobStatus::kRunning);
  t.launcher_ends_all = json.value("launcher_ends_all", false);
  for (const Json& one : json.at("expected")) {
    ExpectedRank e;
    Reader(one) >> e.rank >> e.attempt >> e.started;
    e.unread = one.size() > 3 && one.at(3).get<bool>();
    t.expected.push_back(e);
  }
  for (const Json& p : json.at("processes")) t.processes.push_back(process_of(p));
  return t;
} catch (const std::exception& e) {
  return usage_error(fmt::format("not the state of a look: {}", e.what()));
}

}  // namespace rankfault
