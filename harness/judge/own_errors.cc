#include "harness/judge/own_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/judge/oracle_queries.h"
#include "harness/scenario/op_names.h"

namespace rankfault {

const std::vector<std::string>& error_classes() {
  static const std::vector<std::string> classes{"timeout", "mismatch", "peer_lost", "abort", "other"};
  return classes;
}

namespace {

bool has_class(const std::string& word) {
  return std::find(error_classes().begin(), error_classes().end(), word) != error_classes().end();
}

std::string class_of_text(std::string text) {
  if (has_class(text)) return text;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto says = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (says("timed out") || says("timeout")) return "timeout";
  if (says("mismatch") || says("truncat")) return "mismatch";
  if (says("closed by peer") || says("connection reset") || says("peer")) return "peer_lost";
  return says("abort") || says("revoked") ? "abort" : "other";
}

constexpr Duration kNoticedLate = 100ms;  // the harness may notice a death later than the peers

// Whether the process had ended when the call failed. An end that was noticed up to kNoticedLate later also
// counts, if the process recorded nothing after the failure and none of its own calls failed: such a process
// did not end because of the same trouble.
bool gone_before(const RunFacts& facts, const RankEnd& end, Instant failed) {
  if (end.time <= failed) return true;
  if (end.time - failed > kNoticedLate) return false;
  for (const ProcessView& process : facts.timeline.processes) {
    if (process.id != end.process) continue;
    if (!process.history.empty() && instant_of(process.history.back().record.time_ns) > failed) return false;
    const CallHistory history(process);
    const std::vector<const RecordedCall*> calls = communication_calls(history);
    return std::none_of(calls.begin(), calls.end(), [](const auto* call) { return call->left_with_error(); });
  }
  return false;
}

// The class never comes from a library's text. A call that lasted as long as its limit (less 5 %) timed out.
// A call that failed after another process had ended lost a peer.
std::string class_of_call(const RunFacts& facts, const ProcessView& process, const RecordedCall& call) {
  const CommView* comm = process.comm(call.comm());
  if (comm && comm->timeout != Duration::zero() && is_known(call.entered()) &&
      call.left() - call.entered() >= comm->timeout - comm->timeout / 20)
    return "timeout";
  const int mismatch = call.traits().result_of_mismatch;
  if (mismatch != 0 && call.result() == mismatch) return "mismatch";
  for (const RankEnd& end : facts.ends)
    if (end.process != process.id && end.attempt == process.attempt && gone_before(facts, end, call.left()))
      return "peer_lost";
  return "other";
}

// Log lines about the same trouble differ in times, steps and addresses.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit || out.empty() || out.back() != '#') out += digit ? '#' : c;
  }
  return out;
}

// When the first fault of the run reached its gate or took effect.
Instant first_fault_at(const RunFacts& facts) {
  Instant first;
  const auto add = [&first](Instant at) {
    if (is_known(at) && (!is_known(first) || at < first)) first = at;
  };
  for (const auto& [fault, at] : facts.fault_at) add(at);
  for (const GateEvent& gate : facts.gates)
    if (gate.answer != "no_go") add(gate.asked);
  return first;
}

}  // namespace

std::vector<OwnError> own_errors(const RunFacts& facts, int rank) {
  std::vector<OwnError> errors;
  for (const ProcessView* process : processes_of(facts, rank)) {
    const CallHistory history(*process);
    for (const RecordedCall* call : communication_calls(history)) {
      if (!call->left_with_error()) continue;
      if (is_device_op(static_cast<rf_op>(call->op())))
        continue;  // an error of the device, not a reaction of the rank to it
      const std::string as = class_of_call(facts, *process, *call);
      const char* const op = op_text(call->op());
      errors.push_back({call->left(), as, fmt::format("{} failed ({})", op, as), op});
    }
  }
  for (const Mark& mark : facts.marks)
    if (mark.rank == rank && mark.what == "error_mark")
      errors.push_back({mark.time, class_of_text(mark.name), fmt::format("it reported {}", mark.name),
                        "said " + without_numbers(mark.name)});
  return errors;
}

UsualErrors::UsualErrors(const RunFacts& facts, int rank, const std::vector<OwnError>& errors) {
  if (facts.reference)
    for (const OwnError& error : own_errors(*facts.reference, rank))
      reference_.insert({error.as, error.place});
  const Instant first = first_fault_at(facts);
  if (!is_known(first)) return;
  for (const OwnError& error : errors)
    if (is_known(error.time) && error.time < first) before_.insert({error.as, error.place});
}

std::string UsualErrors::shown_in(const OwnError& error) const {
  if (reference_.count({error.as, error.place})) return "in the reference run too";
  return before_.count({error.as, error.place}) ? "before the fault too" : "";
}

}  // namespace rankfault
