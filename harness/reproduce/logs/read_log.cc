#include "harness/reproduce/logs/read_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/flight_recorder/safe_open.h"
#include "harness/reproduce/logs/log_lines.h"
#include "harness/reproduce/logs/markers.h"

namespace rankfault {
namespace {

constexpr uint64_t kProgressBytes = uint64_t{64} << 20;
constexpr unsigned kControlBit = 31;

// Counts the bytes that are read of a file, below the source that unpacks them.
class CountedSource : public ByteSource {
 public:
  CountedSource(std::unique_ptr<ByteSource> source, uint64_t& count)
      : source_(std::move(source)), count_(count) {}
  Result<size_t> read(char* to, size_t bytes) override {
    Result<size_t> got = source_->read(to, bytes);
    if (got) count_ += *got;
    return got;
  }
  Status rewind() override {
    count_ = 0;
    return source_->rewind();
  }

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t& count_;
};

// Everything but where and when it was written.
bool say_the_same(const Clue& a, const Clue& b) {
  const auto fields = [](const Clue& c) {
    return std::tie(c.kind, c.host, c.text, c.rank, c.rank_is_local, c.group_rank, c.world_size, c.about,
                    c.op, c.group, c.dtype, c.seq, c.numel_in, c.numel_out, c.peer, c.limit_ms, c.ran_ms,
                    c.last_enqueued, c.last_started, c.last_completed, c.code, c.signal, c.pid, c.path,
                    c.reason, c.host_call, c.frames);
  };
  return fields(a) == fields(b);
}

size_t hash_of(const Clue& c) {
  size_t hash = std::hash<std::string>()(c.text);
  for (const int64_t number :
       {int64_t{c.rank}, c.pid, c.seq, int64_t{c.group_rank}, static_cast<int64_t>(c.kind)})
    hash = hash * 1'000'003 + std::hash<int64_t>()(number);
  for (const int rank : c.about) hash = hash * 1'000'003 + static_cast<size_t>(rank);
  return hash;
}

// One bit for each reader, in the order of the catalogue, and one for control bytes.
const MarkerSearch& all_markers() {
  static const MarkerSearch kMarkers = [] {
    MarkerSearch markers;
    unsigned bit = 0;
    for (const ClueReaderEntry* entry : Catalog<ClueReaderEntry>::instance().all()) {
      RF_ASSERT(bit < kControlBit, "too many readers of logs");
      for (const std::string_view marker : entry->make()->markers()) markers.add(marker, bit);
      ++bit;
    }
    for (int byte = 0; byte < 0x80; ++byte) {
      const char c = static_cast<char>(byte);
      if (has_controls({&c, 1})) markers.add({&c, 1}, kControlBit);
    }
    markers.build();
    return markers;
  }();
  return kMarkers;
}

class Readers {
 public:
  explicit Readers(const std::string& file)
      : file_(file), named_(log_rank_of_name(file)), markers_(all_markers()) {
    for (const ClueReaderEntry* entry : Catalog<ClueReaderEntry>::instance().all())
      readers_.push_back(entry->make());
  }

  void take(std::string_view text, uint64_t number, LogClues& to) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    uint32_t readers = markers_.in(text);
    if (readers == 0 && open_ == 0) return;
    const bool is_dirty = (readers >> kControlBit) != 0;
    if (readers == uint32_t{1} << kControlBit && open_ == 0 && text.find('\x1b') == std::string_view::npos &&
        text.find('\r') == std::string_view::npos)
      return;
    LogLine line = log_line(text, number);
    // A colour may stand within a marker.
    if (is_dirty) readers = markers_.in(line.text);
    readers |= open_;
    if (line.rank < 0) {
      line.rank = named_.rank;
      line.rank_is_local = named_.is_local;
    }
    for (size_t i = 0; i < readers_.size(); ++i) {
      const uint32_t bit = uint32_t{1} << i;
      if ((readers & bit) == 0) continue;
      readers_[i]->take(line, found_);
      open_ = readers_[i]->wants_next() ? open_ | bit : open_ & ~bit;
    }
    keep(to);
  }

  void finish(LogClues& to) {
    for (const std::unique_ptr<ClueReader>& reader : readers_) reader->finish(found_);
    keep(to);
  }

 private:
  void keep(LogClues& to) {
    for (Clue& clue : found_) {
      const size_t hash = hash_of(clue);
      const auto known = kept_.find(hash);
      if (known != kept_.end() && say_the_same(to.clues[known->second], clue)) {
        ++to.clues[known->second].times;
      } else if (to.clues.size() == kMostClues) {
        ++to.left_out;
      } else {
        kept_.emplace(hash, to.clues.size());
        clue.file = file_;
        to.clues.push_back(std::move(clue));
      }
    }
    found_.clear();
  }

  std::string file_;
  NameRank named_;
  std::vector<std::unique_ptr<ClueReader>> readers_;
  const MarkerSearch& markers_;
  uint32_t open_ = 0;                        // readers with an open message
  std::vector<Clue> found_;                  // by the current line
  std::unordered_map<size_t, size_t> kept_;  // hash: the first such clue
};

}  // namespace

LogClues read_log_bytes(ByteSource& source, const std::string& name, const LogProgress& progress,
                        const std::function<uint64_t()>& bytes_done, uint64_t bytes_total) {
  LogClues result;
  Readers readers(name);
  LogLines lines(source);
  uint64_t next_report = kProgressBytes;
  std::string_view line;
  while (lines.next(line)) {
    readers.take(line, lines.number(), result);
    if (progress && lines.bytes() >= next_report) {
      progress(bytes_done ? bytes_done() : lines.bytes(), bytes_total);
      next_report = lines.bytes() + kProgressBytes;
    }
  }
  readers.finish(result);
  std::stable_sort(result.clues.begin(), result.clues.end(),
                   [](const Clue& a, const Clue& b) { return a.line < b.line; });
  result.lines = lines.number();
  result.bytes = lines.bytes();
  if (lines.error() != nullptr) result.cut_short = lines.error()->message;
  return result;
}

Result<LogClues> read_log(const std::string& path, const LogProgress& progress) {
  Result<UniqueFd> fd = open_file(path);
  if (!fd) return refused(path + ": " + fd.error().message);
  struct stat info {};
  const uint64_t total =
      ::fstat(fd->get(), &info) == 0 && info.st_size > 0 ? static_cast<uint64_t>(info.st_size) : 0;
  FrLimits limits;
  limits.unpack_ratio = 1100;  // deflate does not reach it: a log repeats itself, and its lines are not kept
  uint64_t done = 0;
  Result<std::unique_ptr<ByteSource>> source =
      unpacked(std::make_unique<CountedSource>(file_source(std::move(*fd)), done), limits);
  if (!source) return refused(path + ": " + source.error().message);
  LogClues result = read_log_bytes(
      **source, path, progress, [&done] { return done; }, total);
  if (!result.cut_short.empty() && result.bytes == 0) return refused(path + ": " + result.cut_short);
  return result;
}

}  // namespace rankfault
