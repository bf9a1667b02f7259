// host_objects: see host_objects.h.
#include "harness/live/host_objects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "harness/launch/posix_queues.h"
#include "harness/live/read_environment.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCoarseClockNs = 10'000'000;  // file systems stamp with it
constexpr int kMostFiles = 100'000;             // looked at, of one TMPDIR

int64_t realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

bool is_below(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

// Others use these, too; the guardian looks there for what the job's processes hold.
bool is_shared(const std::string& folder) {
  return folder == "/" || folder == "/tmp" || folder == "/var/tmp" || folder == "/dev/shm";
}

bool made_since(const std::string& path, int64_t began_ns, unsigned user) {
  struct statx st {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) != 0)
    return false;
  const statx_timestamp& born = (st.stx_mask & STATX_BTIME) ? st.stx_btime : st.stx_ctime;
  return !S_ISDIR(st.stx_mode) && st.stx_uid == user &&
         born.tv_sec * 1'000'000'000LL + born.tv_nsec >= began_ns;
}

void note(Journal& journal, const char* kind, const std::string& what) {
  journal.write("leftover", {{"kind", kind}, {"what", what}});
}

// A line of the undo list ends with the text.
void note_left(UndoList* undo, const std::string& what) {
  if (undo) (void)undo->add("left-object " + what);
}

}  // namespace

HostObjects::HostObjects(const RunDir& run)
    : run_path_(run.path()),
      run_tmp_(run.tmp()),
      watch_(run.kind() == RunKind::kWatch),
      user_(::geteuid()),
      began_ns_(realtime_ns() - kCoarseClockNs),
      sysv_(sysv_objects()),
      queues_(posix_queues(user_)) {}

void HostObjects::add_process(int pid) {
  if (pid <= 0 || !pids_.insert(pid).second || watch_) return;
  const Json env = read_environment(pid, {"TMPDIR"});
  if (!env.is_object() || !env.contains("TMPDIR")) return;
  const std::string folder = fs::path(env["TMPDIR"].get<std::string>()).lexically_normal().string();
  if (folder.starts_with('/') && !is_shared(folder) && !is_below(folder, run_tmp_) &&
      !is_below(folder, run_path_))
    tmpdirs_.insert(folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder);
}

void HostObjects::list_segment(const SysvObject& segment, UndoList& undo) {
  if (listed_.insert(segment.id).second)
    (void)undo.add(fmt::format("remove-segment {} {} {}", segment.id, segment.maker, segment.changed));
}

void HostObjects::list_segments(UndoList& undo) {
  if (!sysv_.known) return;
  for (const SysvObject& object : sysv_left(sysv_, sysv_objects(), pids_, user_).of_the_job)
    if (pids_.count(object.maker)) list_segment(object, undo);
}

void HostObjects::census(Journal& journal, UndoList* undo, Json& counts) {
  census_sysv(journal, undo, counts);
  census_queues(journal, undo, counts);
  census_tmpdirs(journal, counts);
}

void HostObjects::census_sysv(Journal& journal, UndoList* undo, Json& counts) {
  const SysvObjects now = sysv_objects();
  if (!sysv_.known || !now.known) return;
  const SysvLeft left = sysv_left(sysv_, now, pids_, user_);
  for (const SysvObject& object : left.of_the_job) {
    note(journal, "sysv", to_text(object));
    if (pids_.count(object.maker) && undo)
      list_segment(object, *undo);
    else
      note_left(undo, to_text(object));
  }
  for (const SysvObject& object : left.unclear) {
    journal.write("unclear_leftover", {{"kind", "sysv"}, {"what", to_text(object)}});
    note_left(undo, to_text(object));
  }
  counts["sysv"] = left.of_the_job.size();
}

// The kernel does not say who made a queue.
void HostObjects::census_queues(Journal& journal, UndoList* undo, Json& counts) const {
  const auto now = posix_queues(user_);
  if (!queues_ || !now) return;
  for (const std::string& name : *now)
    if (!queues_->count(name)) {
      journal.write("unclear_leftover", {{"kind", "queues"}, {"what", "POSIX message queue /" + name}});
      note_left(undo, "POSIX message queue /" + name);
    }
  counts["queues"] = 0;
}

void HostObjects::census_tmpdirs(Journal& journal, Json& counts) const {
  int count = counts.value("temp_files", 0);
  for (const std::string& folder : tmpdirs_) {
    std::error_code none;
    int looked_at = 0;
    for (auto it = fs::recursive_directory_iterator(folder, none);
         !none && it != fs::end(it) && looked_at < kMostFiles; it.increment(none), ++looked_at)
      if (made_since(it->path().string(), began_ns_, user_)) {
        note(journal, "temp_file", it->path().string());
        ++count;
      }
  }
  counts["temp_files"] = count;
}

}  // namespace rankfault
