// c10d_stack: where the program called the collective that the watchdog gave up, from the Flight Recorder.
#include <algorithm>
#include <optional>

#include "harness/reproduce/logs/scan.h"
#include "harness/reproduce/logs/thread_stacks.h"

namespace rankfault {
namespace {

constexpr std::string_view kStack = "Stack trace of the failed collective:";

class C10dStack : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kStack}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    if (const size_t at = line.text.find(kStack); at != std::string::npos) {
      finish(clues);
      Clue clue = clue_at(line, at, ClueKind::kStack);
      clue.reason = "where the failed call was made";
      open_.emplace(std::move(clue));
      open_->begin_thread(true);
      frames_ = 0;
      return;
    }
    // "#2 train_step from /src/train.py:65"; a blank line ends them.
    Scan scan(line.text);
    const std::optional<int64_t> number = scan.skip("#") ? scan.number() : std::nullopt;
    if (number != frames_ || !scan.skip(" ")) {
      finish(clues);
      return;
    }
    ++frames_;
    const std::string_view function = scan.until(" from ");
    const size_t colon = std::min(scan.rest().rfind(':'), scan.rest().size());
    open_->add_frame(function, scan.rest().substr(0, colon),
                     scan.rest().substr(std::min(colon + 1, scan.rest().size())));
  }

  bool wants_next() const override { return open_.has_value(); }
  void finish(std::vector<Clue>& clues) override {
    if (open_ && frames_ > 0) clues.push_back(std::move(*open_).clue());
    open_.reset();
  }

 private:
  std::optional<ThreadStacks> open_;
  int64_t frames_ = 0;
};

const Registration<ClueReaderEntry> kRegistration{
    {"c10d_stack", "PyTorch's stack of the call that the watchdog gave up",
     [] { return std::unique_ptr<ClueReader>(new C10dStack); }}};

}  // namespace
}  // namespace rankfault
