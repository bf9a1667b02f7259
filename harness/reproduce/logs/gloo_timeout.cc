// gloo_timeout: what Gloo's TCP transport writes when a wait ends without its data. Its text never says who
// is late, and the port in it is not the peer's: neither is read.
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kWaited = "Timed out waiting ";
constexpr std::string_view kPlace = "gloo/transport/";
constexpr std::string_view kMesh = "Gloo connectFullMesh failed with ";
constexpr std::string_view kClosedByPeer = "Connection closed by peer [";
constexpr std::string_view kClosedByUs = "Application timeout caused pair closure";
constexpr std::string_view kReset = "Read error [";

struct Loss {
  std::string_view begin;   // of the message
  std::string_view reason;  // "": what stands behind the address
};
constexpr Loss kLosses[] = {
    {"Connection closed by peer ", "closed by peer"},
    {"Socket unexpectedly closed ", "closed"},
    {"Socket closed ", "closed"},
    {"Read timeout ", "read timeout"},
    {"Write timeout ", "write timeout"},
    {"Connect timeout ", "connect timeout"},
    {"Read error ", ""},
    {"writev ", ""},
    {kClosedByUs, "a wait of this rank timed out before"},
};

class GlooTimeout : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kWaited, kPlace, kMesh, kClosedByPeer, kClosedByUs, kReset};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kMesh); at != std::string_view::npos) {
      Clue clue = clue_at(line, at, ClueKind::kNotJoined);
      clue.reason = message_text(text, at + kMesh.size());
      clues.push_back(std::move(clue));
      return;  // the rest of the line is its reason
    }
    for (const size_t at : places_of(text, kWaited)) waited(line, at, clues);
    for (const Loss& loss : kLosses)
      for (const size_t at : places_of(text, loss.begin)) lost(line, at, loss, clues);
  }

 private:
  // "Timed out waiting 1800000ms for recv operation to complete"
  static void waited(const LogLine& line, size_t at, std::vector<Clue>& clues) {
    Scan scan(line.text, at + kWaited.size());
    const std::optional<int64_t> limit = scan.number();
    if (!limit || *limit < 0 || !scan.skip("ms for ")) return;
    const bool sends = scan.skip("send");
    if ((!sends && !scan.skip("recv")) || !scan.skip(" operation to complete")) return;
    Clue clue = clue_at(line, at, ClueKind::kCallTimedOut);
    clue.limit_ms = *limit;
    clue.reason = sends ? "waits for a send" : "waits for a receive";
    clues.push_back(std::move(clue));
  }

  // Behind the place "[.../gloo/transport/tcp/pair.cc:598] ", or before an address "[127.0.0.1]:1234".
  static void lost(const LogLine& line, size_t at, const Loss& loss, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t place = text.substr(0, at).rfind(kPlace);
    const bool is_behind_place =
        place != std::string_view::npos && at - place < 64 && at >= 2 && text.substr(at - 2, 2) == "] ";
    Scan scan(text, at + loss.begin.size());
    const bool has_address = scan.skip("[");
    if (!is_behind_place && !has_address && loss.begin != kClosedByUs) return;
    Clue clue = clue_at(line, at, ClueKind::kPeerLost);
    clue.reason = loss.reason;
    if (loss.reason.empty()) {
      scan.find("]:");
      scan.number();
      if (!scan.skip(": ")) return;
      const std::string_view rest = scan.rest();  // "Connection reset by peer. This is typically ..."
      clue.reason = message_text(rest.substr(0, rest.find_first_of(".:")), 0);
    }
    clues.push_back(std::move(clue));
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"gloo_timeout", "Gloo's timeouts and broken connections",
     [] { return std::unique_ptr<ClueReader>(new GlooTimeout); }}};

}  // namespace
}  // namespace rankfault
