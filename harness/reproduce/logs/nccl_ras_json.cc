// nccl_ras_json: the report of ncclras as JSON (`-f json`, NCCL 2.28 and newer).
#include <algorithm>
#include <map>

#include "harness/base/json.h"
#include "harness/reproduce/logs/call_words.h"
#include "harness/reproduce/logs/scan.h"

namespace rankfault {
namespace {

constexpr std::string_view kBegin = "\"nccl_version\"";
constexpr size_t kMostBytes = size_t{16} << 20;

int64_t number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? message_text(found->get_ref<const std::string&>(), 0)
                                                     : "";
}

const Json& list_in(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_array() ? *found : kNone;
}

class NcclRasJson : public ClueReader {
 public:
  std::vector<std::string_view> markers() const override { return {kBegin}; }

  void take(const LogLine& line, std::vector<Clue>& clues) override {
    if (depth_ == 0) {
      const size_t at = line.text.find(kBegin);
      if (at == std::string::npos || line.text.find_first_not_of(" {") != at) return;
      first_ = line;
      text_ = "{";  // it may stand in the line before
      depth_ = 1;
      add(std::string_view(line.text).substr(at));
    } else {
      add(line.text);
    }
    if (depth_ == 0) {
      report(clues);
    } else if (text_.size() > kMostBytes) {
      depth_ = 0;
    }
    if (depth_ == 0) text_.clear();
  }

  bool wants_next() const override { return depth_ > 0; }

 private:
  // Adds text up to the bracket that closes the report.
  void add(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (is_escaped_)
        is_escaped_ = false;
      else if (in_string_ && c == '\\')
        is_escaped_ = true;
      else if (c == '"')
        in_string_ = !in_string_;
      else if (!in_string_ && (c == '{' || c == '}'))
        depth_ += c == '{' ? 1 : -1;
      text_ += c;
      if (depth_ == 0) break;
    }
    text_ += '\n';
    if (depth_ == 0) in_string_ = is_escaped_ = false;
  }

  void report(std::vector<Clue>& clues) const {
    const Json json = Json::parse(text_, nullptr, false);
    for (const Json& comm : list_in(json, "communicators")) {
      if (!comm.is_object()) continue;
      counts(comm, clues);
      for (const Json& one : list_in(comm, "missing_ranks")) missing(comm, one, clues);
    }
  }

  Clue clue_of(ClueKind kind, const Json& comm) const {
    Clue clue = clue_at(first_, 0, kind);
    clue.group = text_in(comm, "hash");
    return clue;
  }

  void missing(const Json& comm, const Json& one, std::vector<Clue>& clues) const {
    const int rank = one.is_object() ? as_int(number_in(one, "rank")) : -1;
    if (rank < 0) return;
    Clue clue = clue_of(ClueKind::kPeerLost, comm);
    clue.about = {rank};
    clue.host = text_in(one, "host");
    clue.pid = number_in(one, "pid");
    const auto status = one.find("status");
    const bool dead = status != one.end() && status->is_object() && is_true(*status, "considered_dead");
    clue.reason = dead ? "considered dead by RAS" : "no answer to RAS";
    clue.text =
        message_text("missing_ranks: rank " + std::to_string(rank) + " of communicator " + clue.group, 0);
    clues.push_back(std::move(clue));
  }

  // One clue for each count of an operation below the highest.
  void counts(const Json& comm, std::vector<Clue>& clues) const {
    std::map<std::string, std::map<int64_t, std::vector<int>>> ranks_at;  // operation, count
    for (const Json& one : list_in(comm, "ranks")) {
      const int rank = one.is_object() ? as_int(number_in(one, "rank")) : -1;
      const auto counts = one.is_object() ? one.find("collective_counts") : one.end();
      if (rank < 0 || counts == one.end() || !counts->is_object()) continue;
      for (const auto& [name, count] : counts->items())
        if (count.is_number_integer()) ranks_at[name][count.get<int64_t>()].push_back(rank);
    }
    for (const auto& [name, at] : ranks_at) {
      if (at.size() < 2) continue;
      const int64_t most = at.rbegin()->first;
      for (const auto& [count, ranks] : at) {
        if (count == most) continue;
        Clue clue = clue_of(ClueKind::kDiffers, comm);
        clue.op = op_of_nccl(name);
        clue.about = ranks;
        clue.last_enqueued = count;
        clue.seq = count + 1;  // below `most`
        clue.reason = std::to_string(ranks.size()) + " at " + std::to_string(count) + ", the most at " +
                      std::to_string(most);
        clue.text = message_text("collective_counts: " + name + " of communicator " + clue.group, 0);
        clues.push_back(std::move(clue));
      }
    }
  }

  LogLine first_;
  std::string text_;
  int depth_ = 0;
  bool in_string_ = false, is_escaped_ = false;
};

const Registration<ClueReaderEntry> kRegistration{{"nccl_ras_json", "NCCL's RAS report as JSON", [] {
                                                     return std::unique_ptr<ClueReader>(new NcclRasJson);
                                                   }}};

}  // namespace
}  // namespace rankfault
