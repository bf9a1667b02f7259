// nccl_ras: the report of ncclras as text: ranks whose counts of calls differ, ranks and processes that are
// gone.
#include <algorithm>
#include <map>

#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kCounts = "  Communicator ranks have different ";
constexpr std::string_view kNoData = "  Missing communicator data from ";
constexpr std::string_view kDead = " considered dead (unreachable via the RAS network)";
constexpr std::string_view kMismatch = ") MISMATCH", kIncomplete = ") INCOMPLETE", kError = ") ERROR";
constexpr std::string_view kTable = "    #  in group  per comm  per node  per comm  in group";
constexpr int kMostMembers = 4096;  // of which the absent ones are listed by what is left

class NcclRas : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override {
    return {kCounts, kNoData, kDead, kMismatch, kIncomplete, kError, kTable};
  }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    const std::string_view text = line.text;
    if (text.substr(0, kTable.size()) == kTable) {
      in_table_ = true;
    } else if (in_table_) {
      in_table_ = table(text);
    } else if (heading(line, clues)) {
      return;
    } else if (is_open_) {
      detail(line, clues);
    }
  }

  bool wants_next() const override { return in_table_ || is_open_; }
  void finish(std::vector<Clue>& clues) override { close(clues); }

 private:
  struct Part {  // ranks with one count
    int64_t count = 0, ranks = 0;
    std::vector<int> listed;  // none: RAS lists outliers only
  };

  // "    0         1         1         4         4         4   RUNNING  MISMATCH": members of each group.
  bool table(std::string_view text) {
    Scan scan(text);
    std::vector<int64_t> columns;
    for (int i = 0; i < 6; ++i) {
      scan.skip_blanks();
      const std::optional<int64_t> number = scan.number();
      if (!number) return false;
      columns.push_back(*number);
      if (i == 3 && scan.skip("-")) scan.number();  // ranks per node differ: "2-4"
    }
    if (columns[0] < 0 || columns[0] > kMostMembers) return false;
    members_[static_cast<int>(columns[0])] = as_int(columns[4]);
    return true;
  }

  bool heading(const LogLine& line, std::vector<Clue>& clues) {
    const std::string_view text = line.text;
    if (text.substr(0, 1) == "#") {  // "#0-0 (36a5cba4e26c1e5a) MISMATCH"
      Scan scan(text, 1);
      const int group = as_int(scan.number());
      if (group < 0 || !scan.find(" (")) return false;
      close(clues);
      group_ = message_text(scan.until(")"), 0);
      size_ = members_.count(group) ? members_[group] : -1;
      is_open_ = true;
      return true;
    }
    if (Scan scan(text); scan.skip(kCounts)) {
      close_counts(clues);
      is_open_ = true;
      const std::string_view what = scan.until(" ");  // "AllReduce operation counts", "status"
      clue_ = clue_at(line, 0, ClueKind::kDiffers);
      clue_.op = op_of_nccl(what);
      has_counts_ = scan.skip("operation counts");
      return true;
    }
    if (text.substr(0, kNoData.size()) == kNoData || text.find(kDead) != std::string_view::npos) {
      close_counts(clues);
      clue_ = clue_at(line, 0, ClueKind::kPeerLost);
      clue_.reason =
          text.find(kDead) != std::string_view::npos ? "considered dead by RAS" : "no answer to RAS";
      is_open_ = true;
      return true;
    }
    return false;
  }

  void detail(const LogLine& line, std::vector<Clue>& clues) {
    Scan scan(line.text);
    if (line.text.find_first_not_of(' ') == std::string::npos) {
      close(clues);
      return;
    }
    scan.skip_blanks();
    if (scan.skip("Rank ")) {
      rank(line, scan, clues);
    } else if (scan.skip("Process ")) {  // "Process 4021 on node h2 managing GPU 1"
      if (clue_.kind != ClueKind::kPeerLost) return;
      Clue clue = clue_;
      clue.pid = scan.number().value_or(-1);
      if (scan.skip(" on node ")) clue.host = message_text(scan.until(" "), 0);
      clues.push_back(std::move(clue));
    } else if (const std::optional<int64_t> ranks = scan.number(); ranks && has_counts_) {
      if (scan.skip(" ranks have launched up to operation "))
        parts_.push_back({scan.number().value_or(0), *ranks, {}});
      else if (scan.skip(" ranks have not launched any operations"))
        parts_.push_back({0, *ranks, {}});
    }
  }

  // "Rank 2 -- GPU 2 managed by ...", "Rank 2 has launched up to operation 9 -- ...", "Rank 2 has status
  // ABORT"
  void rank(const LogLine& line, Scan scan, std::vector<Clue>& clues) {
    const int rank = as_int(scan.number());
    if (rank < 0) return;
    if (has_counts_) {
      if (scan.skip(" has launched up to operation "))
        parts_.push_back({scan.number().value_or(0), 1, {rank}});
      else if (scan.skip(" has not launched any operations"))
        parts_.push_back({0, 1, {rank}});
      else if (!parts_.empty() && parts_.back().listed.size() < kMostMembers)
        parts_.back().listed.push_back(rank);
      return;
    }
    Clue clue = clue_;
    if (scan.skip(" reported ")) {
      clue = clue_at(line, 0, ClueKind::kLibraryError);
      clue.reason = message_text(scan.until(" --"), 0);
    } else if (scan.skip(" has status ")) {
      clue.reason = "status " + message_text(scan.until(" "), 0);
    } else if (clue.kind != ClueKind::kPeerLost) {
      return;
    }
    clue.about = {rank};
    clue.group = group_;
    clues.push_back(std::move(clue));
  }

  // One clue for each count below the highest. RAS counts launches.
  void close_counts(std::vector<Clue>& clues) {
    int64_t most = 0, unlisted = 0;
    std::vector<int> known;
    for (const Part& part : parts_) {
      most = std::max(most, part.count);
      known.insert(known.end(), part.listed.begin(), part.listed.end());
      if (part.listed.empty()) ++unlisted;
    }
    for (const Part& part : parts_) {
      if (part.count == most) continue;
      Clue clue = clue_;
      clue.group = group_;
      clue.world_size = -1;
      clue.last_enqueued = part.count;
      clue.seq = part.count < most ? part.count + 1 : -1;  // the first that these ranks lack
      clue.about = part.listed;
      if (clue.about.empty() && unlisted == 1 && size_ > 0 && size_ <= kMostMembers)
        for (int rank = 0; rank < size_; ++rank)
          if (std::find(known.begin(), known.end(), rank) == known.end()) clue.about.push_back(rank);
      clue.reason = std::to_string(part.ranks) + " at " + std::to_string(part.count) + ", the most at " +
                    std::to_string(most);
      clues.push_back(std::move(clue));
    }
    parts_.clear();
    has_counts_ = false;
  }

  void close(std::vector<Clue>& clues) {
    close_counts(clues);
    is_open_ = false;
    clue_ = Clue{};
  }

  std::map<int, int> members_;  // of each group of the table
  std::vector<Part> parts_;
  Clue clue_;  // of the open heading
  std::string group_;
  int size_ = -1;
  bool in_table_ = false, is_open_ = false, has_counts_ = false;
};

const Registration<ClueReaderEntry> kRegistration{
    {"nccl_ras", "NCCL's RAS report: ranks whose counts of calls differ, ranks that are gone",
     [] { return std::unique_ptr<ClueReader>(new NcclRas); }}};

}  // namespace
}  // namespace rankfault
