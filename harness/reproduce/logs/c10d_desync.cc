// c10d_desync: PyTorch's report after a timeout of which ranks were where (TORCH_NCCL_DESYNC_DEBUG).
#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kCall = "] Timeout at collective: ";
constexpr std::string_view kJoined = "] joined but didn't finish collective #";
constexpr std::string_view kNextCall = ", but didn't join collective #";
constexpr std::string_view kNever = "] are the lagging ranks that caused this timeout";
constexpr std::string_view kStarted = " started ranks:";
constexpr std::string_view kFinished = " finished ranks:";

class C10dDesync : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kCall, kJoined, kNextCall, kNever, kStarted, kFinished};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kCall); at != std::string_view::npos) timed_out(line, at, clues);
    say(line, kJoined, kJoined, "did not finish", clues);
    if (text.find(kNextCall) != std::string_view::npos)
      say(line, "] finished collective #", kNextCall, "did not join", clues);
    say(line, kNever, "", "never joined a call", clues);
    snapshot(line, clues);
  }

  bool wants_next() const override { return seq_ >= 0; }

 private:
  // Reads a list of ranks such as "[0, 1]", given the place of its closing bracket. Returns none for anything else.
  static std::vector<int> listed(std::string_view text, size_t shut) {
    const size_t open = text.rfind('[', shut);
    if (open == std::string_view::npos) return {};
    Scan scan(text, open + 1);
    std::vector<int> ranks = scan.ranks();
    return scan.at() == shut ? ranks : std::vector<int>{};
  }

  // "- [0] Timeout at collective: ALLREDUCE, #101": the rank that writes.
  static void timed_out(const LogLine& line, size_t at, std::vector<Clue>& clues) {
    const std::vector<int> ranks = listed(line.text, at);
    if (ranks.size() != 1) return;
    Clue clue = clue_at(line, at + 2, ClueKind::kCallTimedOut);
    Scan scan(line.text, at + kCall.size());
    clue.op = op_of_c10d(scan.until(", #"));
    clue.seq = scan.number().value_or(-1);
    clue.group_rank = ranks.front();
    say_rank(clue, ranks.front());
    clues.push_back(std::move(clue));
  }

  static void say(const LogLine& line, std::string_view words, std::string_view before_seq,
                  const char* reason, std::vector<Clue>& clues) {
    const size_t at = line.text.find(words);
    if (at == std::string::npos) return;
    std::vector<int> ranks = listed(line.text, at);
    if (ranks.empty()) return;
    Clue clue = clue_at(line, line.text.rfind('[', at), ClueKind::kDiffers);
    clue.about = std::move(ranks);
    if (!before_seq.empty()) clue.seq = number_after(line.text, before_seq);
    clue.reason = reason;
    clues.push_back(std::move(clue));
  }

  // "#101 started ranks:", and then one line for each operation: "[0, 1, 3] started ALLREDUCE".
  void snapshot(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    for (const std::string_view words : {kStarted, kFinished}) {
      const size_t at = text.find(words);
      if (at == std::string_view::npos) continue;
      const size_t number = text.rfind('#', at);
      seq_ = number == std::string_view::npos ? -1 : Scan(text, number + 1).number().value_or(-1);
      lines_left_ = kMostLines;
      return;
    }
    if (seq_ < 0) return;
    for (const std::string_view words : {"] started ", "] finished "}) {
      const size_t at = text.find(words);
      std::vector<int> ranks = at == std::string_view::npos ? std::vector<int>{} : listed(text, at);
      if (ranks.empty() || text.find("collective #", at) != std::string_view::npos) continue;
      Clue clue = clue_at(line, text.rfind('[', at), ClueKind::kDiffers);
      clue.about = std::move(ranks);
      clue.seq = seq_;
      clue.op = op_of_c10d(text.substr(at + words.size()));
      clue.reason = words == "] started " ? "started" : "finished";
      clues.push_back(std::move(clue));
      lines_left_ = kMostLines;
      return;
    }
    if (--lines_left_ == 0) seq_ = -1;
  }

  static constexpr int kMostLines = 16;  // of others between two lines of the report
  int64_t seq_ = -1;                     // of the open part of the snapshot
  int lines_left_ = 0;
};

const Registration<ClueReaderEntry> kRegistration{
    {"c10d_desync", "PyTorch's desync report: which ranks joined, finished or never came",
     [] { return std::unique_ptr<ClueReader>(new C10dDesync); }}};

}  // namespace
}  // namespace rankfault
