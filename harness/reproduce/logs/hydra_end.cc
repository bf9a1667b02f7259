// hydra_end: "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES" of MPICH's and Intel MPI's launcher.
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kBad = "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES";
constexpr int kMostLines = 10;

class HydraEnd : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kBad}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kBad); at != std::string_view::npos) {
      close(clues);
      open_ = clue_at(line, at, ClueKind::kEnded);
      open_.rank = -1;  // the launcher writes it, no rank
      open_.rank_is_local = false;
      lines_left_ = kMostLines;
      return;
    }
    if (lines_left_ == 0) return;
    field(text);
    if (ends_ || --lines_left_ == 0) close(clues);
  }

  bool wants_next() const override { return lines_left_ > 0; }
  void finish(std::vector<Clue>& clues) override { close(clues); }

 private:
  void field(std::string_view text) {
    Scan scan(text);
    if (Scan who(text); who.find("RANK ")) open_.rank = as_int(who.number());
    if (Scan who(text); who.find("PID ")) {
      open_.pid = who.number().value_or(-1);
      if (who.skip(" RUNNING AT ")) open_.host = message_text(who.rest(), 0);
      open_.text =
          message_text(open_.text + "; " + message_text(text.substr(text.find_first_not_of("= ")), 0), 0);
    }
    if (Scan how(text); how.find("KILLED BY SIGNAL: ")) {
      open_.signal = as_int(how.number(), 64);
      ends_ = true;  // Intel MPI's last line
    }
    if (Scan how(text); how.find("EXIT CODE: ")) open_.code = as_int(how.number(), 0xffff);
    // MPICH writes the signal as the exit code, and says so two lines below.
    if (Scan how(text); how.find("EXIT STRING: ")) {
      if (how.find("(signal ")) {
        open_.signal = as_int(how.number(), 64);
        open_.code = -1;
      }
      ends_ = true;
    }
  }

  void close(std::vector<Clue>& clues) {
    if (lines_left_ > 0 && (open_.code >= 0 || open_.signal >= 0)) clues.push_back(std::move(open_));
    open_ = Clue{};
    ends_ = false;
    lines_left_ = 0;
  }

  Clue open_;
  bool ends_ = false;
  int lines_left_ = 0;
};

const Registration<ClueReaderEntry> kRegistration{{"hydra_end",
                                                   "bad terminations that MPICH's launcher reports",
                                                   [] { return std::unique_ptr<ClueReader>(new HydraEnd); }}};

}  // namespace
}  // namespace rankfault
