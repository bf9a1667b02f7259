#include "harness/nodes/node_messages.h"

namespace rankfault {

EndMessage message_of(const RankEnd& end) {
  EndMessage m;
  m.process = end.process.to_string();
  m.rank = end.rank;
  m.attempt = end.attempt;
  m.time = end.time;
  m.outlived = end.outlived;
  m.kind = end.status.kind;
  m.value = end.status.value;
  m.source = end.source;
  m.oom_kill_in = end.oom_kill_in;
  m.last_words = end.last_words;
  return m;
}

Result<RankEnd> end_of(const EndMessage& m) {
  const auto process = process_id_from(m.process);
  if (!process) return usage_error("an end names no process");
  return RankEnd{*process,          m.rank,   m.attempt,    m.time,       m.outlived,
                 {m.kind, m.value}, m.source, m.last_words, m.oom_kill_in};
}

}  // namespace rankfault
