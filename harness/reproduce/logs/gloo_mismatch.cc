// gloo_mismatch: Gloo ends a rank that receives more bytes than its call expects: it is in another call than
// its peer.
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kTooLong = "op.preamble.length <= op.nbytes. ";

class GlooMismatch : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kTooLong}; }

  // "[enforce fail at .../pair.cc:510] op.preamble.length <= op.nbytes. 280 vs 8"
  void take(const LogLine& line, std::vector<Clue>& clues) override {
    for (const size_t at : places_of(line.text, kTooLong)) {
      Scan scan(line.text, at + kTooLong.size());
      const std::optional<int64_t> received = scan.number();
      const std::optional<int64_t> expected = scan.skip(" vs ") ? scan.number() : std::nullopt;
      if (!received || !expected || *received < 0 || *expected < 0) continue;
      Clue clue = clue_at(line, at, ClueKind::kDiffers);
      clue.reason = "the peer sends more bytes than this rank's call takes";
      clue.bytes_received = *received;
      clue.bytes_expected = *expected;
      clues.push_back(std::move(clue));
    }
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"gloo_mismatch", "Gloo's end of a rank that received more bytes than its call takes",
     [] { return std::unique_ptr<ClueReader>(new GlooMismatch); }}};

}  // namespace
}  // namespace rankfault
