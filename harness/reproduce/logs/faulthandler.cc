// faulthandler: stacks from Python's own faulthandler, which a signal, a timeout or a crash makes it write.
#include <map>
#include <optional>

#include "harness/reproduce/logs/scan.h"
#include "harness/reproduce/logs/thread_stacks.h"

namespace rankfault {
namespace {

constexpr std::string_view kMostRecent = " (most recent call first):";
constexpr size_t kMostOpen = 1024;
constexpr int kMostLines = 100'000;

class Faulthandler : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kMostRecent}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    const std::pair<std::string, int> who(line.host, line.rank);
    auto found = open_.find(who);
    if (thread(line)) {
      if (found == open_.end()) {
        if (open_.size() == kMostOpen) return;
        found = open_.emplace(who, Open{ThreadStacks(clue_at(line, 0, ClueKind::kStack)), kMostLines}).first;
      }
      found->second.stacks.begin_thread(text.substr(0, 7) == "Current");
      return;
    }
    if (found == open_.end()) return;
    if (is_part(found->second, text) && --found->second.lines_left > 0) return;
    clues.push_back(std::move(found->second.stacks).clue());
    open_.erase(found);
  }

  bool wants_next() const override { return !open_.empty(); }
  void finish(std::vector<Clue>& clues) override {
    for (auto& [who, one] : open_) clues.push_back(std::move(one.stacks).clue());
    open_.clear();
  }

 private:
  struct Open {
    ThreadStacks stacks;
    int lines_left;
  };

  // "Current thread 0x00007f (most recent call first):", "Thread 0x00007f [pt_main] (most recent call
  // first):"
  static bool thread(const LogLine& line) {
    Scan scan(line.text);
    return (scan.skip("Current thread 0x") || scan.skip("Thread 0x")) &&
           scan.rest().find(kMostRecent) != std::string_view::npos;
  }

  // "  File "train.py", line 41 in step", and a blank line between threads
  static bool is_part(Open& one, std::string_view text) {
    if (text.find_first_not_of(' ') == std::string_view::npos) return true;
    Scan scan(text);
    scan.skip_blanks();
    if (scan.skip("...") || scan.skip("<")) return true;  // too many frames; "<no Python frame>"
    if (!scan.skip("File \"")) return false;
    const std::string_view file = scan.until("\", line ");
    const std::string_view line = scan.until(" in ");
    one.stacks.add_frame(scan.rest(), file, line);
    return true;
  }

  std::map<std::pair<std::string, int>, Open> open_;
};

const Registration<ClueReaderEntry> kRegistration{
    {"faulthandler", "stacks from Python's faulthandler: in which communication call a process waits",
     [] { return std::unique_ptr<ClueReader>(new Faulthandler); }}};

}  // namespace
}  // namespace rankfault
