// torch_host: what PyTorch says when the host or the device refuses memory, or a helper of a rank dies.
#include <algorithm>
#include <utility>

#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kAllocate = "unable to allocate shared memory(shm) for file <";
constexpr std::string_view kOpen = "unable to open shared memory object <";
constexpr std::string_view kWorker = "DataLoader worker (pid";
constexpr std::string_view kDevice = "CUDA out of memory. Tried to allocate ";

class TorchHost : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kAllocate, kOpen, kWorker, kDevice}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    shared_memory(line, clues);
    worker(line, clues);
    if (const size_t at = line.text.find(kDevice); at != std::string::npos) {
      Clue clue = clue_at(line, at, ClueKind::kHostResource);
      clue.host_call = "allocating device memory";
      clue.reason = "CUDA out of memory";
      clues.push_back(std::move(clue));
    }
  }

 private:
  // "... for file </torch_7_1_0>: No space left on device (28)", "... object </torch_7> in read-write mode:
  // Too many open files (24)"
  static void shared_memory(const LogLine& line, std::vector<Clue>& clues) {
    for (const auto& [words, call] :
         {std::pair(kAllocate, "allocating shared memory"), std::pair(kOpen, "opening shared memory")}) {
      const size_t at = line.text.find(words);
      if (at == std::string::npos) continue;
      Clue clue = clue_at(line, at, ClueKind::kHostResource);
      Scan scan(line.text, at + words.size());
      clue.path = message_text(scan.until(">"), 0);
      clue.host_call = call;
      if (!scan.find(": ")) continue;
      const std::string_view rest = scan.rest();
      const size_t bracket = std::min(rest.find(" ("), rest.size());
      clue.reason = message_text(rest.substr(0, bracket), 0);
      clue.code = as_int(number_after(rest.substr(bracket), " ("), 4096);
      clues.push_back(std::move(clue));
    }
  }

  // "DataLoader worker (pid 1234) is killed by signal: Bus error. ...", "DataLoader worker (pid(s) 12, 13)
  // exited unexpectedly"
  static void worker(const LogLine& line, std::vector<Clue>& clues) {
    const size_t at = line.text.find(kWorker);
    if (at == std::string::npos) return;
    Clue clue = clue_at(line, at, ClueKind::kEnded);
    Scan scan(line.text, at + kWorker.size());
    scan.skip("(s)");
    scan.skip_blanks();
    clue.pid = scan.number().value_or(-1);
    clue.host_call = "DataLoader worker";  // of the rank, not the rank
    if (scan.find(") is killed by signal: ")) {
      constexpr std::pair<std::string_view, int> kSignals[] = {
          {"Killed", 9}, {"Bus error", 7}, {"Segmentation fault", 11}, {"Aborted", 6}, {"Terminated", 15}};
      for (const auto& [name, number] : kSignals)
        if (scan.rest().substr(0, name.size()) == name) clue.signal = number;
      clue.reason = message_text(scan.rest().substr(0, scan.rest().find('.')), 0);
    } else if (scan.find(") exited unexpectedly")) {
      clue.reason = "exited unexpectedly";
    }
    if (clue.pid > 0 && !clue.reason.empty()) clues.push_back(std::move(clue));
  }
};

const Registration<ClueReaderEntry> kRegistration{
    {"torch_host", "memory that the host or the device refuses to PyTorch, and dead DataLoader workers",
     [] { return std::unique_ptr<ClueReader>(new TorchHost); }}};

}  // namespace
}  // namespace rankfault
