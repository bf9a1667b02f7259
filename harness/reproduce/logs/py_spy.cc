// py_spy: stacks from `py-spy dump`, of one process or of several, one after the other.
#include <map>
#include <optional>

#include "harness/reproduce/logs/scan.h"
#include "harness/reproduce/logs/thread_stacks.h"

namespace rankfault {
namespace {

constexpr size_t kMostOpen = 1024;  // ranks whose dumps are interleaved
constexpr int kMostLines = 100'000;

class PySpy : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {"Process ", "Thread "}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::pair<std::string, int> who(line.host, line.rank);
    const auto found = open_.find(who);
    if (process(line, who, clues) || found == open_.end()) return;
    Open& one = found->second;
    if (is_part(one, line.text) && --one.lines_left > 0) return;
    close(one, clues);
    open_.erase(found);
  }

  bool wants_next() const override { return !open_.empty(); }
  void finish(std::vector<Clue>& clues) override {
    for (auto& [who, one] : open_) close(one, clues);
    open_.clear();
  }

 private:
  struct Open {
    ThreadStacks stacks;
    int lines_left;
  };

  // "Process 123: python train.py"
  bool process(const LogLine& line, const std::pair<std::string, int>& who, std::vector<Clue>& clues) {
    Scan scan(line.text);
    if (!scan.skip("Process ")) return false;
    const std::optional<int64_t> pid = scan.number();
    if (!pid || *pid <= 0 || !scan.skip(": ")) return false;
    Clue clue = clue_at(line, 0, ClueKind::kStack);
    clue.pid = *pid;
    if (const auto found = open_.find(who); found != open_.end()) {
      close(found->second, clues);
      open_.erase(found);
    }
    if (open_.size() < kMostOpen) open_.emplace(who, Open{ThreadStacks(std::move(clue)), kMostLines});
    return true;
  }

  // A line of the dump: of its head, a thread, a frame, or a local variable.
  static bool is_part(Open& one, std::string_view text) {
    Scan scan(text);
    if (text.find_first_not_of(" -") == std::string_view::npos)
      return true;  // also the rule between processes
    if (scan.skip("Python v") || scan.skip("Parent Process ")) return true;
    if (scan.skip("Thread ")) {
      // "Thread 0x7F3A (active+gil): "MainThread""
      const std::string_view id = scan.until(" (");
      if (id.empty() || id.find_first_not_of("0123456789abcdefABCDEFx") != std::string_view::npos)
        return false;
      one.stacks.begin_thread(scan.rest().find("\"MainThread\"") != std::string_view::npos);
      return true;
    }
    scan.skip_blanks();
    if (scan.at() < 4) return false;
    if (scan.at() > 4) return true;  // "        Arguments:", "            x: 3"
    // "all_reduce (torch/distributed/distributed_c10d.py:2810)"
    const std::string_view frame = scan.rest();
    const size_t open = frame.rfind(" (");
    if (open == std::string_view::npos || frame.back() != ')') return false;
    const std::string_view place = frame.substr(open + 2, frame.size() - open - 3);
    const size_t colon = place.rfind(':');
    const bool has_line = colon != std::string_view::npos;
    one.stacks.add_frame(frame.substr(0, open), place.substr(0, colon),
                         has_line ? place.substr(colon + 1) : std::string_view());
    return true;
  }

  static void close(Open& one, std::vector<Clue>& clues) {
    if (one.stacks.has_threads()) clues.push_back(std::move(one.stacks).clue());
  }

  std::map<std::pair<std::string, int>, Open> open_;
};

const Registration<ClueReaderEntry> kRegistration{
    {"py_spy", "stacks from py-spy dump: in which communication call a process waits",
     [] { return std::unique_ptr<ClueReader>(new PySpy); }}};

}  // namespace
}  // namespace rankfault
