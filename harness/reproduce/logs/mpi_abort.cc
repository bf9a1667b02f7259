// mpi_abort: ends of MPI processes as Open MPI and MPICH report them.
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kAbort = "MPI_ABORT was invoked on rank ";
constexpr std::string_view kMpichAbort = "application called MPI_Abort(";
constexpr std::string_view kNoticed = " noticed that process rank ";
constexpr std::string_view kImproper = " has exited due to process rank ";
constexpr std::string_view kStatus = "exited with non-zero status";
constexpr std::string_view kName = "Process name: [";
constexpr std::string_view kSignal = "] Signal: ";
constexpr int kMostLines = 6;  // that a message has behind its first

// The rank of "[[57263,1],3]" and of "[prterun-host-12@1,3]": behind the last comma.
int rank_of_name(std::string_view name) {
  const size_t comma = name.rfind(',');
  return comma == std::string_view::npos ? -1 : as_int(Scan(name, comma + 1).number());
}

class MpiAbort : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kAbort, kMpichAbort, kNoticed, kImproper, kStatus, kName, kSignal};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (begin(line, clues)) return;
    if (lines_left_ == 0) return;
    // A launcher's help text is wrapped at 80 columns in some versions.
    more(text);
    if (is_whole() || --lines_left_ == 0) close(clues);
  }

  bool wants_next() const override { return lines_left_ > 0; }
  void finish(std::vector<Clue>& clues) override { close(clues); }

 private:
  bool begin(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    for (const std::string_view words : {kAbort, kNoticed, kImproper, kStatus, kName}) {
      const size_t at = text.find(words);
      if (at == std::string_view::npos || (words == kName && lines_left_ > 0)) continue;
      close(clues);
      open_ = clue_at(line, words == kNoticed || words == kImproper ? 0 : at, ClueKind::kEnded);
      open_.rank = -1;
      open_.rank_is_local = false;
      is_abort_ = words == kAbort;
      lines_left_ = kMostLines;
      Scan scan(text, at + words.size());
      if (words == kAbort) {
        abort(scan);
      } else if (words == kNoticed || words == kImproper) {
        open_.rank = as_int(scan.number());
        if (scan.skip(" with PID ")) open_.pid = scan.number().value_or(-1);
        if (open_.pid == 0) open_.pid = -1;  // Open MPI 4 does not know it
        if (scan.skip(" on node ")) open_.host = message_text(scan.until(" "), 0);
        if (words == kImproper)
          open_.reason =
              text.find(" calling") != std::string_view::npos ? "called abort" : "exited improperly";
      }
      more(text.substr(at));
      if (is_whole()) close(clues);
      return true;
    }
    return mpich_abort(line, clues) || received(line, clues);
  }

  void abort(Scan& scan) {
    open_.group_rank = as_int(scan.number());
    open_.reason = "MPI_Abort";
    if (!scan.skip(" in communicator ")) return;
    const std::string_view rest = scan.rest();
    open_.group = message_text(rest.substr(0, rest.find(" with errorcode")), 0);
    if (open_.group == "MPI_COMM_WORLD") open_.rank = open_.group_rank;
  }

  // "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 2"
  static bool mpich_abort(const LogLine& line, std::vector<Clue>& clues) {
    const size_t at = line.text.find(kMpichAbort);
    if (at == std::string::npos) return false;
    Scan scan(line.text, at + kMpichAbort.size());
    Clue clue = clue_at(line, at, ClueKind::kEnded);
    clue.group = message_text(scan.until(", "), 0);
    clue.code = as_int(scan.number(), INT32_MAX);
    if (!scan.skip(") - process ")) return false;
    clue.group_rank = as_int(scan.number());
    if (clue.group == "MPI_COMM_WORLD") say_rank(clue, clue.group_rank);
    clue.reason = "MPI_Abort";
    clues.push_back(std::move(clue));
    return true;
  }

  // "[node-1:29709] Signal: Bus error (7)" of Open MPI's signal handler
  static bool received(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    const size_t at = text.find(kSignal);
    const size_t open = at == std::string_view::npos ? at : text.rfind('[', at);
    if (open == std::string_view::npos) return false;
    Scan scan(text, open + 1);
    const std::string_view host = scan.until(":");
    Clue clue = clue_at(line, at + 2, ClueKind::kEnded);
    clue.pid = scan.number().value_or(-1);
    if (clue.pid < 0 || scan.at() != at || !scan.find(" (")) return false;
    clue.host = message_text(host, 0);
    clue.signal = as_int(scan.number(), 64);
    if (clue.signal >= 0) clues.push_back(std::move(clue));
    return true;
  }

  void more(std::string_view text) {
    Scan scan(text);
    if (is_abort_ && (scan.find("errorcode ") || scan.find("Errorcode: ")))
      open_.code = as_int(scan.number(), INT32_MAX);
    if (Scan name(text); is_abort_ && name.find("Proc: [")) open_.rank = rank_of_name(name.until("]\n"));
    if (is_abort_) return;
    if (Scan name(text); name.find(kName)) open_.rank = rank_of_name(name.rest());
    if (Scan code(text); code.find("Exit code: ")) {
      code.skip_blanks();
      open_.code = as_int(code.number(), INT32_MAX);
    }
    // "exited on signal 9 (Killed)": the number may stand in the next line.
    if (Scan signal(text); signal.find("signal ")) open_.signal = as_int(signal.number(), 64);
  }

  bool is_whole() const { return open_.code >= 0 || open_.signal >= 0; }

  void close(std::vector<Clue>& clues) {
    const bool says_who = open_.rank >= 0 || open_.group_rank >= 0;
    if (lines_left_ > 0 && says_who && (is_whole() || !open_.reason.empty()))
      clues.push_back(std::move(open_));
    open_ = Clue{};
    lines_left_ = 0;
  }

  Clue open_;
  bool is_abort_ = false;
  int lines_left_ = 0;  // 0: no message is open
};

const Registration<ClueReaderEntry> kRegistration{
    {"mpi_abort", "MPI_Abort, and ends of ranks that mpirun and prterun notice",
     [] { return std::unique_ptr<ClueReader>(new MpiAbort); }}};

}  // namespace
}  // namespace rankfault
