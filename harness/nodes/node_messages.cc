#include "harness/nodes/node_messages.h"

#include <algorithm>

namespace rankfault {
namespace {

constexpr size_t kLeastPart = 12;  // bytes of a part's offset and of its size

// The message, unless the payload was too short or too long.
template <typename Message>
Result<Message> checked(const Unpacker& from, Message message) {
  if (const Status done = from.done(); !done) return done.error();
  return message;
}

Packer& operator<<(Packer& out, const ProcessId& id) {
  return out.u64(id.host).u64(id.pid_ns).i64(id.pid).u64(id.start).i64(id.image);
}

ProcessId process_from(Unpacker& in) {
  ProcessId id;
  id.host = in.u64();
  id.pid_ns = in.u64();
  id.pid = static_cast<int>(in.i64());
  id.start = in.u64();
  id.image = static_cast<int>(in.i64());
  return id;
}

template <typename Enum>
Enum enum_from(Unpacker& in, Enum last) {
  return static_cast<Enum>(std::min<int>(in.u8(), static_cast<int>(last)));
}

}  // namespace

std::string HelloMessage::pack() const { return Packer().u32(protocol).text(version).text(node).payload(); }

Result<HelloMessage> HelloMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  HelloMessage m;
  m.protocol = in.u32();
  if (m.protocol != kNodeProtocol) return m;  // the rest may have another form
  m.version = in.text();
  m.node = in.text();
  return checked(in, m);
}

std::string PingMessage::pack() const {
  return Packer().u64(number).instant(sent).instant(node_received).instant(node_answered).payload();
}

Result<PingMessage> PingMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  PingMessage m;
  m.number = in.u64();
  m.sent = in.instant();
  m.node_received = in.instant();
  m.node_answered = in.instant();
  return checked(in, m);
}

std::string FlightMessage::pack() const {
  Packer out;
  out.text(name)
      .u64(change.size)
      .u8(change.is_of_one_instant)
      .u32(static_cast<uint32_t>(change.parts.size()));
  for (const FlightPart& part : change.parts) out.u64(part.offset).bytes(part.bytes);
  return out.payload();
}

Result<FlightMessage> FlightMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  FlightMessage m;
  m.name = in.text();
  m.change.size = in.u64();
  m.change.is_of_one_instant = in.u8() != 0;
  m.change.parts.resize(in.count(kLeastPart));
  for (FlightPart& part : m.change.parts) {
    part.offset = in.u64();
    part.bytes = in.text();
  }
  return checked(in, std::move(m));
}

std::string BesideMessage::pack() const {
  return Packer().u8(static_cast<uint8_t>(what)).text(name).u64(offset).bytes(bytes).payload();
}

Result<BesideMessage> BesideMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  BesideMessage m;
  m.what = enum_from(in, What::kPython);
  m.name = in.text();
  m.offset = in.u64();
  m.bytes = in.text();
  return checked(in, std::move(m));
}

std::string FactsMessage::pack() const {
  Packer out;
  out.text(process).u8(stopped).u8(dying).u32(threads).instant(busy_at);
  out.u32(static_cast<uint32_t>(own_threads.size()));
  for (const uint32_t thread : own_threads) out.u32(thread);
  out.u32(static_cast<uint32_t>(lanes.size()));
  for (const auto& [lane, state] : lanes) out.u32(lane).u8(static_cast<uint8_t>(state));
  return out.payload();
}

Result<FactsMessage> FactsMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  FactsMessage m;
  m.process = in.text();
  m.stopped = in.u8() != 0;
  m.dying = in.u8() != 0;
  m.threads = in.u32();
  m.busy_at = in.instant();
  m.own_threads.resize(in.count(4));
  for (uint32_t& thread : m.own_threads) thread = in.u32();
  m.lanes.resize(in.count(5));
  for (auto& [lane, state] : m.lanes) {
    lane = in.u32();
    state = static_cast<char>(in.u8());
  }
  return checked(in, std::move(m));
}

std::string EndMessage::pack() const {
  Packer out;
  out << end.process;
  out.i64(end.rank).i64(end.attempt).instant(end.time).instant(end.outlived);
  out.u8(static_cast<uint8_t>(end.status.kind)).i64(end.status.value).u8(static_cast<uint8_t>(end.source));
  out.text(end.oom_kill_in).u32(static_cast<uint32_t>(end.last_words.size()));
  for (const std::string& line : end.last_words) out.text(line);
  return out.payload();
}

Result<EndMessage> EndMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  EndMessage m;
  m.end.process = process_from(in);
  m.end.rank = static_cast<int>(in.i64());
  m.end.attempt = static_cast<int>(in.i64());
  m.end.time = in.instant();
  m.end.outlived = in.instant();
  m.end.status.kind = enum_from(in, ExitStatus::Kind::kSignal);
  m.end.status.value = static_cast<int>(in.i64());
  m.end.source = enum_from(in, EndSource::kLauncher);
  m.end.oom_kill_in = in.text();
  m.end.last_words.resize(in.count(4));
  for (std::string& line : m.end.last_words) line = in.text();
  return checked(in, std::move(m));
}

std::string TaskMessage::pack() const {
  return Packer().i64(task).i64(pid).u64(start).text(program).u8(ended).i64(wait_status).payload();
}

Result<TaskMessage> TaskMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  TaskMessage m;
  m.task = static_cast<int>(in.i64());
  m.pid = static_cast<int>(in.i64());
  m.start = in.u64();
  m.program = in.text();
  m.ended = in.u8() != 0;
  m.wait_status = static_cast<int>(in.i64());
  return checked(in, std::move(m));
}

std::string TextMessage::pack() const { return Packer().text(text).payload(); }

Result<TextMessage> TextMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  TextMessage m;
  m.text = in.text();
  return checked(in, std::move(m));
}

std::string NumberMessage::pack() const { return Packer().u64(number).payload(); }

Result<NumberMessage> NumberMessage::unpack(const std::string& payload) {
  Unpacker in(payload);
  NumberMessage m;
  m.number = in.u64();
  return checked(in, m);
}

}  // namespace rankfault
