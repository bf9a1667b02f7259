#include "reports/html/journal_words.h"

#include <fmt/format.h>

#include "harness/base/rank_end.h"

namespace rankfault::html {
namespace {

std::string rank_text(int rank) {
  return rank < 0 ? "a process without a rank" : fmt::format("rank {}", rank);
}

// One take() for each event that decides an expectation. The others have their name alone.
class Words {
 public:
  explicit Words(LineWords& out) : out_(out) {}

  template <typename E>
  void operator()(const E& event) {
    if constexpr (!std::is_same_v<E, std::monostate>) take(event);
  }

 private:
  template <typename E>
  void take(const E&) {
    out_.text = E::kDoc.name;
  }
  void take(const events::RankEnd& end) {
    ExitStatus status;
    status.kind = end.kind == "exit"     ? ExitStatus::Kind::kCode
                  : end.kind == "signal" ? ExitStatus::Kind::kSignal
                                         : ExitStatus::Kind::kUnknown;
    status.value = end.value;
    tell(end.rank, fmt::format("{} ended: {}", rank_text(end.rank), status.to_string()), end.time);
  }
  void take(const events::FaultAsked& line) {
    const std::string place = line.seq == 0 ? "" : fmt::format(" {}", line.seq);
    tell(line.rank.value_or(-1),
         fmt::format("{}: {} waits at {}{}", line.fault, rank_of(line), line.op, place),
         line.asked_ns.value_or(Instant{}));
  }
  void take(const events::FaultIntent& line) { about(line, "rankfault acts: " + line.what); }
  void take(const events::FaultAnswered& line) { about(line, "rankfault answers: " + line.answer); }
  void take(const events::FaultDone& line) {
    about(line, "carried out: " + line.effect, line.time.value_or(Instant{}));
  }
  void take(const events::FaultEffect& line) {
    about(line, "effect seen: " + line.what, line.time.value_or(Instant{}));
  }
  void take(const events::Finding& line) {
    const auto ranks = line.finding.value("ranks", std::vector<int>{});
    tell(ranks.empty() ? -1 : ranks.front(),
         fmt::format("finding {}: {}", line.finding.value("kind", ""), line.finding.value("text", "")));
  }
  void take(const events::Look& line) { tell(-1, fmt::format("look ({})", line.reason)); }
  void take(const events::AttemptBegin& line) { tell(-1, fmt::format("attempt {} begins", line.attempt)); }
  void take(const events::AttemptEnd& line) {
    tell(-1, fmt::format("attempt {} ends: {}, {}", line.attempt, line.end, line.status));
  }
  void take(const events::Spawned& line) {
    tell(line.rank, fmt::format("{} was started", line.rank < 0 ? "a launcher" : rank_text(line.rank)));
  }
  void take(const events::Process& line) {
    tell(line.rank, fmt::format("{}: {}", rank_text(line.rank), line.stage));
  }
  void take(const events::LogMarker& line) {
    tell(line.rank, fmt::format("{} wrote: {}", rank_text(line.rank), line.text));
  }
  void take(const events::Teardown& line) { tell(-1, "rankfault ends the job: " + line.reason); }
  void take(const events::Leftover& line) { tell(-1, fmt::format("left: {} {}", line.kind, line.what)); }
  void take(const events::Check& line) {
    tell(-1, fmt::format("check {}: {} {}", line.id, line.kind, line.said.value_or("")));
  }

  static std::string rank_of(const events::FaultLine& line) { return rank_text(line.rank.value_or(-1)); }
  void about(const events::FaultLine& line, const std::string& what, Instant happened = {}) {
    const bool has_rank = line.rank && *line.rank >= 0;
    tell(has_rank ? *line.rank : -1,
         fmt::format("{}{}: {}", line.fault, has_rank ? ", " + rank_of(line) : "", what), happened);
  }
  void tell(int rank, std::string text, Instant happened = {}) {
    out_.rank = rank;
    out_.text = std::move(text);
    if (is_known(happened)) out_.happened = happened;
  }

  LineWords& out_;
};

}  // namespace

LineWords words_of(const JournalLine& line) {
  LineWords out;
  out.happened = line.t;
  std::visit(Words(out), line.event);
  return out;
}

}  // namespace rankfault::html
