// nccl_warning: the warnings of NCCL, also the one that PyTorch repeats as "Last error:". NCCL's information
// lines give the rank of a process, if the log has them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/reproduce/logs/nccl_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kWarning = "NCCL WARN ";
constexpr std::string_view kLast = "Last error:";
constexpr std::string_view kDone = "Init COMPLETE";
constexpr std::string_view kStart = "Init START";
constexpr size_t kMostProcesses = 1 << 16;

// "host:pid:tid [0] " before byte `at` of a line.
struct Writer {
  std::string host;
  int64_t pid = -1;
  size_t begin = std::string::npos;  // of the host
};

bool is_blank_or_bracket(char c) { return c == ' ' || c == ']' || c == '[' || c == '\t'; }

Writer writer_before(std::string_view text, size_t at) {
  const size_t bracket = text.substr(0, at).rfind(" [");
  if (bracket == std::string_view::npos) return {};
  size_t begin = bracket;
  while (begin > 0 && !is_blank_or_bracket(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, bracket - begin);
  const size_t last = word.rfind(':');
  const size_t before =
      last == std::string_view::npos || last == 0 ? std::string_view::npos : word.rfind(':', last - 1);
  if (before == std::string_view::npos || before == 0) return {};
  Scan scan(word, before + 1);
  const std::optional<int64_t> pid = scan.number();
  if (!pid || *pid <= 0 || scan.at() != last || !Scan(word, last + 1).number()) return {};
  return {std::string(word.substr(0, before)), *pid, begin};
}

class NcclWarning : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kWarning, kLast, kDone, kStart}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    learn(line);
    last_error(line, clues);
    for (const size_t at : places_of(text, kWarning)) {
      const size_t begin = at + kWarning.size();
      Clue clue = clue_at(line, begin, ClueKind::kLibraryError);
      std::string_view message = text.substr(begin);
      if (const size_t next = message.find(kWarning); next != std::string_view::npos) {  // glued behind
        const Writer other = writer_before(message, next);
        message = message.substr(0, std::min(next, other.begin));
        clue.text = message_text(message, 0);
      }
      say_writer(clue, writer_before(text, at));
      say_nccl_warning(clue, message);
      clues.push_back(std::move(clue));
    }
  }

  bool wants_next() const override { return !open_.empty(); }

 private:
  // "Last error:" ends PyTorch's "NCCL error in: ..."; the next line of the rank is NCCL's warning.
  void last_error(const LogLine& line, std::vector<Clue>& clues) {
    constexpr size_t kMostOpen = 1024;
    const std::pair<std::string, int> who(line.host, line.rank);
    if (message_text(line.text, 0) == kLast) {
      if (open_.size() < kMostOpen) open_.insert(who);
    } else if (open_.erase(who) > 0 && line.text.find_first_not_of(' ') != std::string::npos) {
      Clue clue = clue_at(line, 0, ClueKind::kLibraryError);
      say_nccl_warning(clue, line.text);
      clues.push_back(std::move(clue));
    }
  }

  struct Process {
    int rank = -1, size = -1;
    bool is_sure = true;  // one rank of the largest communicator
  };

  // "... comm 0x55d8 rank 3 nranks 8 cudaDev 3 ... commId 0x1f - Init COMPLETE"; "nRanks" in some versions.
  void learn(const LogLine& line) {
    const std::string_view text = line.text;
    const size_t end = std::min(text.find(kDone), text.find(kStart));
    if (end == std::string_view::npos) return;
    const size_t comm = text.substr(0, end).rfind(" comm 0x");
    if (comm == std::string_view::npos) return;
    Scan scan(text.substr(0, end), comm);
    if (!scan.find(" rank ")) return;
    const int rank = as_int(scan.number());
    if (!scan.skip(" nranks ") && !scan.skip(" nRanks ")) return;
    const int size = as_int(scan.number());
    const Writer writer = writer_before(text, std::min(text.rfind("NCCL INFO", comm), text.size()));
    if (rank < 0 || size <= rank || writer.pid < 0) return;
    const std::pair<std::string, int64_t> key(writer.host, writer.pid);
    if (processes_.size() >= kMostProcesses && processes_.count(key) == 0) return;
    Process& process = processes_[key];
    if (size > process.size)
      process = {rank, size, true};
    else if (size == process.size && rank != process.rank)
      process.is_sure = false;
  }

  void say_writer(Clue& clue, const Writer& writer) const {
    if (writer.pid < 0) return;
    clue.host = writer.host;
    clue.pid = writer.pid;
    const auto found = processes_.find({writer.host, writer.pid});
    if (found == processes_.end()) return;
    clue.world_size = found->second.size;
    if (found->second.is_sure) say_rank(clue, found->second.rank);
  }

  std::map<std::pair<std::string, int64_t>, Process> processes_;
  std::set<std::pair<std::string, int>> open_;  // ranks whose next line is the error
};

const Registration<ClueReaderEntry> kRegistration{
    {"nccl_warning", "NCCL's warnings: refused shared memory, lost peers, CUDA failures",
     [] { return std::unique_ptr<ClueReader>(new NcclWarning); }}};

}  // namespace
}  // namespace rankfault
