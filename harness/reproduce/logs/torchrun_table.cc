// torchrun_table: torchrun's table of the processes that failed, with the first of them.
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kRoot = "Root Cause (first observed failure):";
constexpr std::string_view kFailures = "Failures:";

// Returns the value of "  exitcode  : -9 (pid: 4853)  (SIGKILL)" if the line is of that name.
bool is_field(std::string_view text, std::string_view name, Scan& value) {
  Scan scan(text);
  scan.skip_blanks();
  if (!scan.skip(name)) return false;
  scan.skip_blanks();
  if (!scan.skip(": ")) return false;
  value = Scan(text, scan.at());
  return true;
}

class TorchrunTable : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kRoot, kFailures}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (text.find(kRoot) != std::string_view::npos || text.substr(0, kFailures.size()) == kFailures) {
      close(clues);
      is_root_ = text.find(kRoot) != std::string_view::npos;
      lines_left_ = kMostLines;
      return;
    }
    if (lines_left_ == 0) return;
    --lines_left_;
    if (Scan scan(text); scan.skip("[") && scan.number() && scan.skip("]:") && scan.rest().empty()) {
      close(clues);
      open_ = clue_at(line, 0, ClueKind::kEnded);
      open_.rank = -1;
      open_.rank_is_local = false;
      open_.reason = is_root_ ? "first observed failure" : "";
      is_open_ = true;
    }
    field(text);
    // "====" ends the table, and "----" the first part of it.
    if (text.substr(0, 6) == "======") {
      close(clues);
      lines_left_ = 0;
    }
  }

  bool wants_next() const override { return lines_left_ > 0; }
  void finish(std::vector<Clue>& clues) override { close(clues); }

 private:
  void field(std::string_view text) {
    Scan value{std::string_view()};
    if (!is_open_) return;
    if (is_field(text, "time", value)) {
      open_.time = message_text(value.rest(), 0);
    } else if (is_field(text, "host", value)) {
      open_.host = message_text(value.rest(), 0);
    } else if (is_field(text, "rank", value)) {
      open_.rank = as_int(value.number());
      open_.text = message_text(text, 0);
    } else if (is_field(text, "exitcode", value)) {
      say_status(open_, value.number());
      if (value.skip(" (pid: ")) open_.pid = value.number().value_or(-1);
      open_.text = message_text(open_.text + "; " + message_text(text, 0), 0);
    }
  }

  void close(std::vector<Clue>& clues) {
    if (is_open_ && (open_.code >= 0 || open_.signal >= 0)) clues.push_back(std::move(open_));
    is_open_ = false;
    open_ = Clue{};
  }

  static constexpr int kMostLines = 2000;  // a failure may hold a whole traceback
  Clue open_;
  bool is_open_ = false, is_root_ = false;
  int lines_left_ = 0;
};

const Registration<ClueReaderEntry> kRegistration{
    {"torchrun_table", "torchrun's table of failed processes, with the first one that it saw",
     [] { return std::unique_ptr<ClueReader>(new TorchrunTable); }}};

}  // namespace
}  // namespace rankfault
