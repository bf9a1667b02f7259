#include "harness/observe/ring_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "harness/base/cut_files.h"
#include "harness/observe/library_traits.h"

namespace rankfault {
namespace {

// Converts a number of the file to one of our words, the last of which is `last`; a larger number becomes
// `otherwise`.
template <typename Word>
Word word_of(uint64_t number, Word last, Word otherwise) {
  return number <= static_cast<uint64_t>(last) ? static_cast<Word>(number) : otherwise;
}

constexpr int kTries = 64;  // a lane at full speed changes its state every 100 ns; we read it in 20
constexpr uint32_t kLanes = RF_MAX_LANES + 1;

template <typename T>
T copy_of(const T& shared) {
  T copy;
  std::memcpy(&copy, const_cast<const T*>(&shared), sizeof copy);
  return copy;
}

}  // namespace

RingReader::RingReader(std::string path, const struct stat& file, const char* base)
    : path_(std::move(path)), device_(file.st_dev), inode_(file.st_ino), base_(base) {
  cut_pages_seen_ = pages_of_cut_files();
  bytes_ = RF_HEADER_BYTES;
}

Result<std::unique_ptr<RingReader>> RingReader::open(const std::string& path) {
  survive_cut_files();
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // O_NONBLOCK: does not wait for a
                                                                         // fifo
  if (!fd.valid()) return errno_error("open " + path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_error("stat " + path);
  if (!S_ISREG(info.st_mode)) return refused(path + ": not a flight record: not a regular file");
  if (static_cast<uint64_t>(info.st_size) < RF_HEADER_BYTES)
    return refused(fmt::format("{}: not a flight record: {} bytes, at least {} expected", path, info.st_size,
                               RF_HEADER_BYTES));
  void* base = ::mmap(nullptr, RF_OFF_HISTORY, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return errno_error("map " + path);
  std::unique_ptr<RingReader> reader(new RingReader(path, info, static_cast<const char*>(base)));
  const rf_header& header = reader->header();
  if (RF_LOAD(&header.magic) != RF_RING_MAGIC) return refused(path + ": not a flight record");
  if (header.abi_version != RF_ABI_VERSION)
    return refused(fmt::format("{}: flight record of version {}; this tool reads version {}", path,
                               header.abi_version, RF_ABI_VERSION));
  reader->id_ = {header.host_id, header.pid_ns, header.pid, header.start_time, header.image};
  return reader;
}

bool RingReader::half_made(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  uint64_t magic = 0;
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (info.st_size != 0 && static_cast<uint64_t>(info.st_size) < RF_HEADER_BYTES) return false;
  return ::pread(fd.get(), &magic, sizeof magic, offsetof(rf_header, magic)) <= 0 || magic == 0;
}

RingReader::~RingReader() {
  const auto unmap = [](const void* mapping, size_t bytes) {
    forget_lost_pages(mapping, bytes);
    ::munmap(const_cast<void*>(mapping), bytes);
  };
  unmap(base_, RF_OFF_HISTORY);
  for (const rf_record* lane : history_)
    if (lane) unmap(lane, RF_LANE_HISTORY_BYTES);
}

uint32_t RingReader::lanes_used() const {
  return has_state_page() ? std::min(RF_LOAD(&header().lanes_used), kLanes) : 0;
}

// A candidate's record is only a header until its first call. The mapping is then longer than the file:
// nothing after the header may be accessed before the file has grown and its writer has written to it.
bool RingReader::has_state_page() const {
  if (has_state_page_ || !made_calls()) return has_state_page_;
  struct stat info {};
  const UniqueFd fd = open_again();
  has_state_page_ = ::fstat(fd.get(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= RF_OFF_HISTORY;
  if (has_state_page_) bytes_ = RF_OFF_HISTORY;
  return has_state_page_;
}

bool RingReader::is_shorter_than_it_says() const {
  if (!made_calls()) return false;
  struct stat info {};
  const UniqueFd fd = open_again();
  if (!has_state_page() || ::fstat(fd.get(), &info) != 0) return true;
  const auto bytes = static_cast<uint64_t>(info.st_size);
  for (uint32_t i = 0; i < lanes_used(); ++i)
    if (RF_LOAD(&lane(i).mapped) != 0 && bytes < RF_LANE_HISTORY_OFFSET(i) + RF_LANE_HISTORY_BYTES)
      return true;
  return false;
}

UniqueFd RingReader::open_again() const {
  UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || info.st_dev != device_ || info.st_ino != inode_) fd.reset();
  return fd;
}

bool RingReader::made_calls() const {
  const rf_header& h = header();
  return RF_LOAD(&h.names_used) != 0 || RF_LOAD(&h.lanes_used) != 0 || RF_LOAD(&h.comms_used) != 0;
}

std::string RingReader::rank_source() const {
  const char* source = header().env_rank_source;
  return printable(source, strnlen(source, sizeof header().env_rank_source));
}

std::optional<RingReader::OwnExit> RingReader::own_exit() const {
  if (RF_LOAD(&header().own_exit) == RF_NOT_EXITED) return std::nullopt;
  return OwnExit{header().own_exit_status & 0xff, instant_of(header().own_exit_ns)};
}

// A page of it was read as zeros, whatever the file's size is by now: the file may have grown again, or its
// disk failed.
bool RingReader::has_lost_a_page() const {
  return lost_page_in(base_, RF_OFF_HISTORY) ||
         std::any_of(history_.begin(), history_.end(),
                     [](const rf_record* lane) { return lane && lost_page_in(lane, RF_LANE_HISTORY_BYTES); });
}

// Reads the size only if some page of some file was read as zeros: otherwise no file has become shorter.
bool RingReader::is_cut() const {
  const uint64_t pages = pages_of_cut_files();
  is_cut_ = is_cut_ || RF_LOAD(&header().magic) != RF_RING_MAGIC;
  if (is_cut_ || pages == cut_pages_seen_) return is_cut_;
  cut_pages_seen_ = pages;
  struct stat info {};
  const UniqueFd fd = open_again();
  is_cut_ =
      has_lost_a_page() || ::fstat(fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) < bytes_;
  return is_cut_;
}

uint32_t RingReader::modules_version() const { return RF_LOAD(&header().modules_version); }

uint64_t RingReader::claim() const {
  const rf_header& h = header();
  if (is_cut()) return 0;
  const uint64_t words[] = {
      RF_LOAD(&h.stage),      static_cast<uint32_t>(h.rank), static_cast<uint32_t>(h.attempt),
      RF_LOAD(&h.generation), RF_LOAD(&h.python_minor),      RF_LOAD(&h.python_off)};
  return rf_hash_bytes(0, words, sizeof words);
}

std::string RingReader::python() const {
  if (is_cut()) return "";
  const uint32_t minor = RF_LOAD(&header().python_minor), off = RF_LOAD(&header().python_off);
  if (minor == 0 && off == RF_PYTHON_IS_ON) return "";
  const std::string version = minor ? fmt::format("3.{}", minor) : "of an unknown version";
  return off == RF_PYTHON_IS_ON ? version : fmt::format("{}: {}", version, why_no_frames(off));
}

bool RingReader::read_state(uint32_t index, rf_state& out) const {
  const rf_lane& l = lane(index);
  for (int i = 0; i < kTries; ++i) {
    const uint32_t selector = RF_LOAD(&l.selector);
    out = copy_of(l.slot[selector & 1]);
    const bool is_left = out.where == RF_INSIDE && RF_LOAD(&l.left_call) == out.call;
    const uint64_t left_ns = RF_LOAD(&l.left_ns);
    const int32_t left_result = RF_LOAD(&l.left_result);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const rf_state again = copy_of(l.slot[selector & 1]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (RF_LOAD(&l.selector) != selector || std::memcmp(&out, &again, sizeof out) != 0) continue;
    if (is_left) out = rf_after_leaving(out, left_ns, left_result);
    return true;
  }
  return false;
}

uint32_t RingReader::comms_used() const {
  return has_state_page() ? std::min(RF_LOAD(&header().comms_used), RF_MAX_COMMS) : 0;
}

// Entries of freed communicators are reused: a copy that mixes two of them is dropped.
std::optional<CommView> RingReader::read_comm(uint32_t at) const {
  const rf_comm& c = comm(at);
  for (int i = 0; i < kTries; ++i) {
    const uint32_t number = RF_LOAD(&c.number);
    if (RF_LOAD(&c.state) < RF_COMM_LIVE || RF_COMM_SLOT(number) != at) return std::nullopt;
    CommView v = copy_comm(at);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (v.index == number && RF_LOAD(&c.state) >= RF_COMM_LIVE && RF_LOAD(&c.number) == number) return v;
  }
  return std::nullopt;
}

CommView RingReader::copy_comm(uint32_t at) const {
  const rf_comm& c = comm(at);
  CommView v;
  v.index = RF_LOAD(&c.number);
  v.id = c.id;
  v.parent = c.parent;
  v.parent_seq = c.parent_seq;
  v.members_hash = c.members_hash;
  v.completed = RF_LOAD(&c.completed);  // before entered: so `completed` is never seen greater
  v.entered = RF_LOAD(&c.entered);
  v.issuers = RF_LOAD(&c.issuers);
  v.sends = RF_LOAD(&c.sends);
  v.receives = RF_LOAD(&c.receives);
  v.calls = RF_LOAD(&c.calls);
  v.timeout = duration_of(c.timeout_ns);
  v.size = c.size;
  v.flags = RF_LOAD(&c.flags);
  v.ordinal = c.ordinal;
  v.tag = c.tag;
  v.error = RF_LOAD(&c.error);
  v.failures = RF_LOAD(&c.failures);
  v.rank = c.rank;
  v.destroyed = RF_LOAD(&c.state) == RF_COMM_DESTROYED;
  v.library = traits_of(c.library).library;
  v.identity = word_of(c.identity, RF_ID_UNIQUE, RF_ID_NONE);
  v.name = name(c.name);
  const auto* pool = reinterpret_cast<const int32_t*>(base_ + RF_OFF_MEMBERS);
  if (c.members != RF_NO_MEMBERS && c.members < RF_MAX_MEMBERS && c.size <= RF_MAX_MEMBERS - c.members)
    v.members.assign(pool + c.members, pool + c.members + c.size);
  return v;
}

ProcessView RingReader::view() const {
  ProcessView now = read_view();
  if (!is_cut()) {
    last_ = now;
    return now;
  }
  now = last_;
  now.id = id_;
  now.partial |= RF_PARTIAL_LANES | RF_PARTIAL_COMMS | RF_PARTIAL_HISTORY;
  return now;
}

ProcessView RingReader::read_view() const {
  const rf_header& h = header();
  ProcessView v;
  v.id = id_;
  v.stage = word_of(RF_LOAD(&h.stage), RF_STAGE_FINALIZED, RF_STAGE_STRANGER);
  v.rank = h.rank;
  v.world_size = h.world_size;
  v.attempt = h.attempt;
  v.generation = RF_LOAD(&h.generation);
  v.partial = RF_LOAD(&h.partial);
  v.opaque = RF_LOAD(&h.opaque);
  v.thread_multiple = RF_LOAD(&h.thread_multiple) != 0;
  v.polled = RF_LOAD(&h.polled) != 0;
  for (const uint32_t& id : h.own_threads)
    if (const uint32_t thread = RF_LOAD(&id)) v.own_threads.push_back(thread);
  v.steps_begun = RF_LOAD(&h.last_step_begun);
  v.steps_committed = RF_LOAD(&h.last_step_committed);
  v.opened = instant_of(h.opened_ns);
  v.member = instant_of(RF_LOAD(&h.member_ns));
  for (const int32_t pid : h.ancestors) {
    if (pid == 0) break;
    v.ancestors.push_back(pid);
  }
  v.spawned = RF_LOAD(&h.spawned) != 0;
  for (const rf_coverage& c : h.coverage)
    if (c.library != RF_LIB_NONE)
      v.coverage.push_back({traits_of(c.library).library, word_of(c.hook, RF_HOOK_LINKED, RF_HOOK_NONE),
                            c.version, printable(c.decoder, strnlen(c.decoder, sizeof c.decoder)),
                            printable(c.reason, strnlen(c.reason, sizeof c.reason))});
  const uint32_t lanes = lanes_used();
  for (uint32_t i = 0; i < lanes; ++i) {
    LaneView l;
    l.index = i;
    l.kind = word_of(RF_LOAD(&lane(i).kind), RF_LANE_STREAM, RF_LANE_THREAD);
    l.owner = RF_LOAD(&lane(i).owner);
    l.dropped = RF_LOAD(&lane(i).dropped);
    l.polled = instant_of(RF_LOAD(&lane(i).polled_ns));
    if (!read_state(i, l.state)) v.stable = false;
    l.head = RF_LOAD(&lane(i).head);
    if (l.kind != RF_LANE_FREE || l.head != 0) v.lanes.push_back(std::move(l));
  }
  const uint32_t comms = comms_used();
  for (uint32_t i = 0; i < comms; ++i)
    if (std::optional<CommView> c = read_comm(i)) v.comms.push_back(std::move(*c));
  return v;
}

uint64_t RingReader::comm_id(uint32_t number) const {
  const uint32_t at = RF_COMM_SLOT(number);
  if (number == RF_NO_COMM || at >= comms_used() || RF_LOAD(&comm(at).state) < RF_COMM_LIVE) return 0;
  const uint64_t id = comm(at).id;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return RF_LOAD(&comm(at).number) == number ? id : 0;
}

std::optional<uint64_t> RingReader::completed_on(uint64_t id) const {
  const uint32_t comms = comms_used();
  for (uint32_t at = 0; at < comms; ++at) {
    const uint32_t number = RF_LOAD(&comm(at).number);
    if (comm_id(number) != id) continue;
    const uint64_t completed = RF_LOAD(&comm(at).completed);
    if (comm_id(number) == id) return completed;
  }
  return std::nullopt;
}

uint64_t RingReader::activity() const {
  const rf_header& h = header();
  uint64_t words[4] = {RF_LOAD(&h.stage), RF_LOAD(&h.comms_used), RF_LOAD(&h.own_exit),
                       RF_LOAD(&h.generation)};
  uint64_t digest = rf_hash_bytes(0, words, sizeof words);
  const uint32_t lanes = lanes_used();
  for (uint32_t i = 0; i < lanes; ++i) {
    const rf_lane& l = lane(i);
    const uint32_t selector = RF_LOAD(&l.selector);
    uint64_t lane_words[3] = {RF_LOAD(&l.head), RF_LOAD(&l.slot[selector & 1].version), RF_LOAD(&l.left_ns)};
    digest = rf_hash_bytes(digest, lane_words, sizeof lane_words);
  }
  return digest;
}

const rf_record* RingReader::history(uint32_t index) {
  if (history_[index] || !has_state_page() || RF_LOAD(&lane(index).mapped) == 0) return history_[index];
  struct stat info {};
  const uint64_t end = RF_LANE_HISTORY_OFFSET(index) + RF_LANE_HISTORY_BYTES;
  const UniqueFd fd = open_again();
  if (::fstat(fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) < end) return nullptr;
  void* at = ::mmap(nullptr, RF_LANE_HISTORY_BYTES, PROT_READ, MAP_SHARED, fd.get(),
                    static_cast<off_t>(RF_LANE_HISTORY_OFFSET(index)));
  if (at == MAP_FAILED) return nullptr;
  history_[index] = static_cast<const rf_record*>(at);
  bytes_ = std::max(bytes_, end);
  return history_[index];
}

bool RingReader::read_record(uint32_t index, uint64_t at, rf_record& out, bool& gone) {
  gone = false;
  const rf_record* records = history(index);
  if (!records) return false;
  const rf_record& r = records[at % RF_LANE_RECORDS];
  const uint64_t before = RF_LOAD(&r.commit);
  if (before == at + 1) {
    out = copy_of(r);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (RF_LOAD(&r.commit) == at + 1) {
      out.commit = at + 1;
      return true;
    }
  }
  gone = RF_LOAD(&lane(index).head) > at + RF_LANE_RECORDS;
  return false;
}

RingReader::LaneRead RingReader::read_lane(uint32_t index, uint64_t from, std::vector<Event>& records) {
  LaneRead read;
  read.next = RF_LOAD(&lane(index).head);
  if (read.next <= from) {
    read.next = from;
    return read;
  }
  const uint64_t oldest = read.next > RF_LANE_RECORDS ? read.next - RF_LANE_RECORDS : 0;
  if (!history(index)) {
    read.lost = read.next - from;
    return read;
  }
  if (from < oldest) read.lost = oldest - from;
  records.reserve(records.size() + (read.next - std::max(from, oldest)));
  Event event{index, 0, {}};
  for (event.index = std::max(from, oldest); event.index < read.next; ++event.index) {
    bool gone = false;
    if (read_record(index, event.index, event.record, gone))
      records.push_back(event);
    else if (gone)
      ++read.lost;
    else
      read.torn.push_back(event.index);
  }
  return read;
}

std::string RingReader::name(uint32_t offset) const {
  if (offset == 0 || offset >= RF_NAME_BYTES || !has_state_page()) return "";
  const char* text = base_ + RF_OFF_NAMES + offset;
  return printable(text, strnlen(text, RF_NAME_BYTES - offset));
}

}  // namespace rankfault
