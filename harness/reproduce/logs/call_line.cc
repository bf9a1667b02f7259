// call_line: a program's own line about a call that it gave up, in the words of PyTorch's watchdog:
// "ALLREDUCE seq 56731 numel 467019003 timeout(ms) 600000 ran for 600053 ms".
#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kSeq = " seq ";

bool is_part_of_word(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

class CallLine : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kSeq}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    for (const size_t at : places_of(text, kSeq)) {
      size_t begin = at;
      while (begin > 0 && is_part_of_word(text[begin - 1])) --begin;
      const std::string op = op_of_c10d(text.substr(begin, at - begin));
      Scan scan(text, at + kSeq.size());
      const std::optional<int64_t> seq = scan.number();
      if (op.empty() || !seq || *seq < 0) continue;
      Clue clue = clue_at(line, begin, ClueKind::kLibraryError);
      clue.text = message_text(text, 0);
      clue.op = op;
      clue.seq = *seq;
      const std::string_view rest = scan.rest();
      clue.numel_in = number_after(rest, " numel ");
      clue.limit_ms = number_after(rest, "timeout(ms) ");
      clue.ran_ms = number_after(rest, "ran for ");
      if (clue.ran_ms < 0) continue;  // a call that was made, not one that was given up
      if (clue.limit_ms > 0 && clue.ran_ms >= clue.limit_ms) clue.kind = ClueKind::kCallTimedOut;
      if (clue.rank < 0) clue.rank = as_int(number_after(text.substr(0, begin), "rank "));
      clues.push_back(std::move(clue));
    }
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"call_line", "a program's own line about a call that it gave up, in the words of PyTorch's watchdog",
     [] { return std::unique_ptr<ClueReader>(new CallLine); }}};

}  // namespace
}  // namespace rankfault
