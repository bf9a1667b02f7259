// python_traceback: an exception that ends a rank: its last line, and the communication call it came from.
#include <cctype>
#include <map>

#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr size_t kMostOpen = 1024;  // ranks that write at once
constexpr size_t kMostFrames = 64;
constexpr int kMostLines = 2000;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// "RuntimeError: ...", "torch.distributed.DistBackendError: ...", "KeyboardInterrupt"
bool is_exception(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(": "));
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') return false;
  if (name.find('.') != std::string_view::npos) return true;
  for (const std::string_view end : {"Error", "Exception", "Interrupt", "Exit", "Warning", "Iteration"})
    if (name.size() >= end.size() && name.substr(name.size() - end.size()) == end) return true;
  return false;
}

class PythonTraceback : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kTraceback}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::pair<std::string, int> who(line.host, line.rank);
    if (const size_t at = line.text.find(kTraceback); at != std::string::npos) {
      if (open_.size() < kMostOpen || open_.count(who))
        open_[who] = {clue_at(line, at, ClueKind::kLibraryError), kMostLines};
      return;
    }
    const auto found = open_.find(who);
    if (found == open_.end()) return;
    Open& one = found->second;
    const std::string_view text = line.text;
    if (--one.lines_left == 0) {
      open_.erase(found);
    } else if (text.empty() || is_blank(text.front())) {
      frame(one.clue, text);
    } else if (is_exception(text) && text.find("ChildFailedError") == std::string_view::npos) {
      one.clue.text = message_text(text, 0);
      clues.push_back(std::move(one.clue));
      open_.erase(found);
    } else {
      open_.erase(found);  // text of another writer cut it, or it is torchrun's own
    }
  }

  bool wants_next() const override { return !open_.empty(); }

 private:
  struct Open {
    Clue clue;
    int lines_left = 0;
  };

  // "  File "/usr/lib/python3/torch/distributed/distributed_c10d.py", line 2810, in all_reduce". The
  // outermost comes first.
  static void frame(Clue& clue, std::string_view text) {
    Scan scan(text);
    scan.skip_blanks();
    if (!scan.skip("File \"")) return;
    const std::string_view file = scan.until("\", line ");
    const std::optional<int64_t> number = scan.number();
    if (!number || !scan.skip(", in ")) return;
    const std::string function = message_text(scan.rest(), 0);
    if (clue.frames.size() == kMostFrames) clue.frames.pop_back();
    clue.frames.insert(clue.frames.begin(),
                       function + " (" + message_text(file, 0) + ":" + std::to_string(*number) + ")");
    if (file.find("torch/distributed/distributed_c10d.py") != std::string_view::npos)
      if (std::string op = op_of_torch(function); !op.empty()) clue.op = std::move(op);
  }

  std::map<std::pair<std::string, int>, Open> open_;
};

const Registration<ClueReaderEntry> kRegistration{
    {"python_traceback", "exceptions of Python, with the communication call that raised them",
     [] { return std::unique_ptr<ClueReader>(new PythonTraceback); }}};

}  // namespace
}  // namespace rankfault
