// c10d_watchdog: what the watchdog and the heartbeat monitor of PyTorch's NCCL groups write (1.13 to 2.13).
#include <algorithm>
#include <map>
#include <utility>

#include "harness/reproduce/logs/c10d_message.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kTimeout = "Watchdog caught collective operation timeout: ";
constexpr std::string_view kBlocking = " timed out in blocking wait";
constexpr std::string_view kThread = "watchdog thread terminated with exception: ";
constexpr std::string_view kStuck = "watchdog got stuck for ";
constexpr std::string_view kRemote = "remote error detected from rank: ";
constexpr std::string_view kHeartbeat = "Heartbeat monitor timed out! ";
constexpr std::string_view kPeriodic = "NCCL Work update periodically: ";
// What was enqueued last, and the words for the completed one.
constexpr std::pair<std::string_view, std::string_view> kStates[] = {
    {"last enqueued NCCL work: ", "last completed NCCL work: "},
    {"Last enqueued NCCL work: ", "last completed NCCL work: "},
    {"last enqueued work: ", "last completed work: "},
};

// -1 in the message: the group made no call yet.
int64_t count_of(std::optional<int64_t> number) { return number ? std::max<int64_t>(*number, 0) : -1; }

class C10dWatchdog : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kTimeout,         kBlocking,        kThread,          kStuck,    kRemote,
            kStates[0].first, kStates[1].first, kStates[2].first, kHeartbeat};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    for (const size_t at : places_of(text, kTimeout)) timed_out(line, at, at + kTimeout.size(), clues);
    for (const size_t at : places_of(text, "Work WorkNCCL("))
      if (text.find(kBlocking, at) != std::string_view::npos) timed_out(line, at, at + 5, clues);
    for (const auto& [enqueued, completed] : kStates)
      for (const size_t at : places_of(text, enqueued)) progress(line, at, enqueued, completed, clues);
    error(line, kThread, clues);
    error(line, kStuck, clues);
    error(line, kRemote, clues);
    error(line, kHeartbeat, clues);
  }

  // A healthy group reports every ten minutes: the last report says it all.
  void finish(std::vector<Clue>& clues) override {
    for (auto& [who, clue] : last_report_) clues.push_back(std::move(clue));
  }

 private:
  void timed_out(const LogLine& line, size_t at, size_t call, std::vector<Clue>& clues) {
    Scan scan(line.text, call);
    if (!scan.skip("WorkNCCL(")) return;
    Clue clue = clue_at(line, at, ClueKind::kCallTimedOut);
    size_t end = line.text.find(") ran for ", scan.at());
    if (line.text.find("WorkNCCL(", scan.at()) < end) end = std::string::npos;  // that of the next message
    std::string_view fields = std::string_view(line.text).substr(scan.at());
    if (end != std::string::npos) fields = fields.substr(0, end - scan.at());
    say_call(clue, fields);
    say_group(clue, line.text, at);
    if (end != std::string::npos) clue.ran_ms = number_after(line.text.substr(end), " ran for ");
    clues.push_back(std::move(clue));
  }

  void progress(const LogLine& line, size_t at, std::string_view enqueued, std::string_view completed,
                std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    Scan scan(text, at + enqueued.size());
    const std::optional<int64_t> last = scan.number();
    if (!last) return;
    size_t begin = at;  // of the message
    int64_t seq = -1;
    const std::string_view before = text.substr(0, at);
    for (const std::string_view words :
         {"detected by watchdog at work: ", "Timeout at NCCL work: ", "at work sequence id: "}) {
      const size_t found = before.rfind(words);
      if (found == std::string_view::npos || before.find('[', found) != std::string_view::npos) continue;
      seq = Scan(text, found + words.size()).number().value_or(-1);
    }
    if (const size_t bracket = before.rfind("] "); bracket != std::string_view::npos) begin = bracket + 2;
    Clue clue = clue_at(line, begin, ClueKind::kProgress);
    clue.seq = seq;
    clue.last_enqueued = count_of(last);
    if (scan.find(completed)) clue.last_completed = count_of(scan.number());
    say_group(clue, text, begin);
    constexpr size_t kMostReports = 1 << 16;
    if (before.find(kPeriodic, begin) == std::string_view::npos)
      clues.push_back(std::move(clue));
    else if (last_report_.size() < kMostReports || last_report_.count({clue.rank, clue.group}))
      last_report_[{clue.rank, clue.group}] = std::move(clue);
  }

  static void error(const LogLine& line, std::string_view words, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t at = text.find(words);
    if (at == std::string_view::npos) return;
    const std::string_view rest = text.substr(at + words.size());
    // The message of the call itself stands in the same line.
    if (words == kThread && rest.find(kTimeout) != std::string_view::npos) return;
    const size_t bracket = text.substr(0, at).rfind("] ");
    const size_t begin = bracket == std::string_view::npos ? at : bracket + 2;
    Clue clue = clue_at(line, begin, ClueKind::kLibraryError);
    say_group(clue, text, begin);
    if (words == kRemote) {
      const int rank = as_int(Scan(rest).number());
      if (rank < 0) return;
      clue.about = {rank};
    }
    if (words == kStuck) {
      const std::optional<int64_t> seconds = Scan(rest).number();
      if (!seconds || *seconds < 0 || *seconds > INT32_MAX) return;
      clue.limit_ms = *seconds * 1000;
    }
    if (words == kThread) {
      clue.reason = message_text(rest, 0);
      if (rest.find("remote process exited or there was a network error") != std::string_view::npos)
        clue.kind = ClueKind::kPeerLost;
    }
    clues.push_back(std::move(clue));
  }

  std::map<std::pair<int, std::string>, Clue> last_report_;
};

const Registration<ClueReaderEntry> kRegistration{
    {"c10d_watchdog",
     "PyTorch's NCCL watchdog and heartbeat monitor: the call that timed out, and how far each rank was",
     [] { return std::unique_ptr<ClueReader>(new C10dWatchdog); }}};

}  // namespace
}  // namespace rankfault
