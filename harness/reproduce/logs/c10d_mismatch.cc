// c10d_mismatch: what PyTorch's own checks of calls write (TORCH_DISTRIBUTED_DEBUG=DETAIL,
// monitored_barrier).
#include <map>

#include "harness/reproduce/logs/c10d_message.h"
#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kMismatch = "Detected mismatch between collectives on ranks";
constexpr std::string_view kRunning = "Running collective: CollectiveFingerPrint(";
constexpr std::string_view kFailed = " failed to pass monitoredBarrier";
constexpr std::string_view kTimedOut = " timed out in monitoredBarrier after ";
constexpr std::string_view kPassed = "successfully reached monitoredBarrier, but received errors";

class C10dMismatch : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kMismatch, kRunning, kFailed, kTimedOut, kPassed};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    mismatch(line, clues);
    running(line);
    barrier(line, clues);
  }

  // With DETAIL each call is a line: the last one of each rank says how far it went.
  void finish(std::vector<Clue>& clues) override {
    for (auto& [who, clue] : last_call_) clues.push_back(std::move(clue));
  }

 private:
  // "Rank 1 is running collective: CollectiveFingerPrint(...), but Rank 0 is running collective: ...". Older
  // versions write "inconsistent collective", and REDUCE alone for the second one.
  static void mismatch(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t begin = text.find(kMismatch);
    if (begin == std::string_view::npos) return;
    Scan scan(text, begin + kMismatch.size());
    while (scan.find("Rank ")) {
      const int rank = as_int(scan.number());
      if (rank < 0 ||
          (!scan.skip(" is running collective: ") && !scan.skip(" is running inconsistent collective: ")))
        continue;
      const std::string_view rest = scan.rest().substr(0, scan.rest().find(", but Rank "));
      Clue clue = clue_at(line, begin, ClueKind::kDiffers);
      clue.about = {rank};
      clue.reason = "another call than other ranks";
      if (Scan print(rest); print.skip("CollectiveFingerPrint("))
        say_call(clue, print.rest());
      else
        clue.op = op_of_c10d(rest.substr(0, rest.find('.')));
      clues.push_back(std::move(clue));
    }
  }

  void running(const LogLine& line) {
    const size_t at = line.text.find(kRunning);
    if (at == std::string::npos) return;
    Clue clue = clue_at(line, at, ClueKind::kProgress);
    say_call(clue, std::string_view(line.text).substr(at + kRunning.size()));
    say_group(clue, line.text, at);
    clue.last_enqueued = clue.seq;
    constexpr size_t kMostKept = 1 << 16;
    const std::pair<int, std::string> who(clue.rank, clue.group);
    if (last_call_.size() < kMostKept || last_call_.count(who)) last_call_[who] = std::move(clue);
  }

  static void barrier(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kFailed); at != std::string_view::npos) {
      size_t word = text.rfind("Ranks ", at);
      size_t ranks = word + 6;
      if (word == std::string_view::npos) {
        word = text.rfind("Rank ", at);
        ranks = word + 5;
      }
      if (word == std::string_view::npos) return;
      Clue clue = clue_at(line, word, ClueKind::kDiffers);
      clue.about = Scan(text, ranks).ranks();
      if (clue.about.empty()) return;
      clue.op = "barrier";
      clue.reason = "did not join";
      clue.limit_ms = number_after(text.substr(at), "monitoredBarrier in ");
      clue.group_rank = 0;  // only the first rank of a group writes it
      clues.push_back(std::move(clue));
    }
    for (const std::string_view words : {kTimedOut, kPassed}) {
      const size_t at = text.find(words);
      if (at == std::string_view::npos) continue;
      const size_t word = text.rfind("Rank ", at);
      const int rank = word == std::string_view::npos ? -1 : as_int(Scan(text, word + 5).number());
      if (rank < 0) continue;
      Clue clue = clue_at(line, word, words == kTimedOut ? ClueKind::kCallTimedOut : ClueKind::kLibraryError);
      clue.op = "barrier";
      clue.group_rank = rank;
      say_rank(clue, rank);
      clue.limit_ms = words == kTimedOut ? Scan(text, at + words.size()).number().value_or(-1) : -1;
      clues.push_back(std::move(clue));
    }
  }

  std::map<std::pair<int, std::string>, Clue> last_call_;
};

const Registration<ClueReaderEntry> kRegistration{
    {"c10d_mismatch",
     "PyTorch's checks of calls: ranks in different calls, ranks that miss a monitored barrier",
     [] { return std::unique_ptr<ClueReader>(new C10dMismatch); }}};

}  // namespace
}  // namespace rankfault
