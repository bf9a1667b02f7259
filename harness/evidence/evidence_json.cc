// evidence_json: converts evidence to the JSON of evidence/rank-N.json and back.
#include <fmt/format.h>

#include "harness/evidence/evidence.h"

namespace rankfault {
namespace {

Json thread_json(const ThreadEvidence& t) {
  Json frames = Json::array(), python = Json::array();
  for (const Frame& f : t.frames)
    frames.push_back({{"function", f.function}, {"module", f.module}, {"where", f.where}});
  for (const PythonFrame& f : t.python)
    python.push_back({{"function", f.function}, {"where", f.where}, {"library", f.library}});
  return {{"tid", t.tid},
          {"name", t.name},
          {"state", t.state ? std::string(1, t.state) : ""},
          {"kernel", t.kernel},
          {"system_call", t.system_call},
          {"frames", std::move(frames)},
          {"python", std::move(python)}};
}

ThreadEvidence thread_of(const Json& json) {
  ThreadEvidence t;
  t.tid = json.at("tid").get<int>();
  t.name = json.at("name").get<std::string>();
  const std::string state = json.at("state").get<std::string>();
  t.state = state.empty() ? '\0' : state[0];
  t.kernel = json.at("kernel").get<std::string>();
  t.system_call = json.at("system_call").get<std::string>();
  for (const Json& f : json.at("frames"))
    t.frames.push_back({f.at("function").get<std::string>(), f.at("module").get<std::string>(),
                        f.at("where").get<std::string>()});
  for (const Json& f : json.at("python"))
    t.python.push_back(
        {f.at("function").get<std::string>(), f.at("where").get<std::string>(), f.at("library").get<bool>()});
  return t;
}

}  // namespace

Json to_json(const RankEvidence& e) {
  Json threads = Json::array(), sockets = Json::array();
  for (const ThreadEvidence& t : e.threads) threads.push_back(thread_json(t));
  for (const SocketEvidence& s : e.sockets)
    sockets.push_back({{"local", s.local},
                       {"peer", s.peer},
                       {"state", s.state},
                       {"send_queue", s.send_queue},
                       {"receive_queue", s.receive_queue}});
  return {{"rank", e.rank},
          {"pid", e.pid},
          {"command", e.command},
          {"cpu_ns", e.cpu_time},
          {"no_stacks", e.no_stacks},
          {"no_python", e.no_python},
          {"threads", std::move(threads)},
          {"sockets", std::move(sockets)}};
}

Result<RankEvidence> evidence_from_json(const Json& json) try {
  RankEvidence e;
  e.rank = json.at("rank").get<int>();
  e.pid = json.at("pid").get<int>();
  e.command = json.at("command").get<std::string>();
  e.cpu_time = json.value("cpu_ns", Duration{});
  e.no_stacks = json.at("no_stacks").get<std::string>();
  e.no_python = json.at("no_python").get<std::string>();
  for (const Json& t : json.at("threads")) e.threads.push_back(thread_of(t));
  for (const Json& s : json.at("sockets"))
    e.sockets.push_back({s.at("local").get<std::string>(), s.at("peer").get<std::string>(),
                         s.at("state").get<std::string>(), s.at("send_queue").get<uint64_t>(),
                         s.at("receive_queue").get<uint64_t>()});
  return e;
} catch (const std::exception& e) {
  return usage_error(fmt::format("not evidence of a rank: {}", e.what()));
}

}  // namespace rankfault
