// mpi_error: errors that an MPI call ends the job with: "Fatal error in internal_Allreduce" of MPICH, "*** An
// error occurred in MPI_Allreduce" of Open MPI.
#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kFatal = "Fatal error in ";
constexpr std::string_view kOccurred = "*** An error occurred in ";
constexpr int kMostLines = 8;

std::string_view word(std::string_view text) { return text.substr(0, text.find_first_of(" :,()")); }

class MpiError : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kFatal, kOccurred}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (const size_t at = text.find(kOccurred); at != std::string_view::npos) {
      begin(line, at, text.substr(at + kOccurred.size()), clues);
      return;
    }
    if (const size_t at = text.find(kFatal); at != std::string_view::npos) {
      const std::string_view function = word(text.substr(at + kFatal.size()));
      if (op_of_mpi(function).empty() && function.find("MPI_") == std::string_view::npos &&
          function.substr(0, 9) != "internal_")
        return;
      begin(line, at, function, clues);
      // "Abort(810170127) on node 1 (rank 1 in comm 0): Fatal error in ..."; comm 0 is the world.
      const std::string_view before = text.substr(0, at);
      if (Scan scan(before); scan.find("(rank ")) {
        const int rank = as_int(scan.number());
        if (scan.skip(" in comm 0)")) say_rank(open_, rank);
      }
      stack(text);
      return;
    }
    if (lines_left_ == 0) return;
    --lines_left_;
    if (is_fatal_)
      stack(text);
    else
      stars(text);
    if (lines_left_ == 0 || is_whole_) close(clues);
  }

  bool wants_next() const override { return lines_left_ > 0; }
  void finish(std::vector<Clue>& clues) override { close(clues); }

 private:
  void begin(const LogLine& line, size_t at, std::string_view function, std::vector<Clue>& clues) {
    close(clues);
    open_ = clue_at(line, at, ClueKind::kLibraryError);
    open_.op = op_of_mpi(word(function));
    is_fatal_ = line.text.compare(at, kFatal.size(), kFatal) == 0;
    is_open_ = true;
    is_whole_ = false;
    lines_left_ = kMostLines;
    if (is_fatal_) return;
    const size_t bracket = line.text.rfind('[', at);  // "[host:26610] *** An error"
    if (bracket == std::string::npos) return;
    Scan scan(line.text, bracket + 1);
    const std::string_view host = scan.until(":");
    const std::optional<int64_t> pid = scan.number();
    if (!pid || !scan.skip("] ")) return;
    open_.host = message_text(host, 0);
    if (*pid > 0) open_.pid = *pid;  // Open MPI 5 writes 00000
  }

  // "internal_Allreduce(7054): MPI_Allreduce(sbuf=0x7f, rbuf=0x7f, count=4, datatype=MPI_INT, op=MPI_SUM,
  // comm=MPI_COMM_WORLD) failed", and lines of the places below it.
  void stack(std::string_view text) {
    if (text.find(") failed") == std::string_view::npos || text.find(": MPI_") == std::string_view::npos)
      return;
    open_.numel_in = number_after(text, "count=");
    if (Scan type(text); type.find("datatype=")) open_.dtype = dtype_of_mpi(word(type.rest()));
    if (Scan comm(text); comm.find("comm=")) open_.group = message_text(word(comm.rest()), 0);
    if (open_.dtype.empty())  // "MPI_Recv(buf=0x7f, count=113, MPI_FLOAT, src=0, ..."
      if (Scan type(text); type.find("count=") && type.find(", MPI_"))
        open_.dtype = dtype_of_mpi(word(type.rest()));
    is_whole_ = true;
  }

  // "*** reported by process [57263,2]", "*** on communicator MPI_COMM_WORLD", "*** MPI_ERR_TRUNCATE: message
  // truncated"
  void stars(std::string_view text) {
    if (Scan scan(text); scan.find("*** reported by process [")) {
      const std::string_view name = scan.until("]");
      const size_t comma = name.rfind(',');
      if (comma != std::string_view::npos) say_rank(open_, as_int(Scan(name, comma + 1).number()));
    }
    if (Scan scan(text); scan.find("*** on communicator ")) open_.group = message_text(scan.rest(), 0);
    if (Scan scan(text); scan.find("*** MPI_ERR_")) {
      open_.reason = message_text(text, scan.at() - 8);
      is_whole_ = true;
    }
  }

  void close(std::vector<Clue>& clues) {
    if (is_open_) clues.push_back(std::move(open_));
    open_ = Clue{};
    is_open_ = false;
    lines_left_ = 0;
  }

  Clue open_;
  bool is_open_ = false, is_fatal_ = false, is_whole_ = false;
  int lines_left_ = 0;
};

const Registration<ClueReaderEntry> kRegistration{{"mpi_error", "errors of MPI calls that end the job",
                                                   [] { return std::unique_ptr<ClueReader>(new MpiError); }}};

}  // namespace
}  // namespace rankfault
