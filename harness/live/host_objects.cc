#include "harness/live/host_objects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "harness/base/file_text.h"
#include "harness/base/process_tree.h"
#include "harness/launch/guardian/file_id.h"
#include "harness/launch/posix_queues.h"
#include "harness/live/read_environment.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

using std::chrono::system_clock;

constexpr Duration kCoarseClock = 10ms;  // the clock of file times

bool is_below(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

// Folders that other programs use too; there the guardian looks for what the job's processes hold.
bool is_shared(const std::string& folder) {
  return folder == "/" || folder == "/tmp" || folder == "/var/tmp" || folder == "/dev/shm";
}

// A path that the user named on the command line is an output: "--out=/scratch/x", and everything below it.
bool is_named(const std::set<std::string>& words, const std::string& path, const std::string& folder) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const size_t at = word.find(folder + "/");
    if (at == std::string::npos) return false;
    std::string named = word.substr(at, word.find_first_of(":,; \n", at) - at);
    while (named.ends_with('/')) named.pop_back();
    return named.size() > folder.size() && is_below(path, named);
  });
}

bool made_since(const struct statx& st, system_clock::time_point began, unsigned user) {
  const statx_timestamp& born = (st.stx_mask & STATX_BTIME) ? st.stx_btime : st.stx_ctime;
  return st.stx_uid == user && system_clock::time_point(std::chrono::seconds(born.tv_sec) +
                                                        std::chrono::nanoseconds(born.tv_nsec)) >= began;
}

// The entries of a folder; nothing: they cannot be listed completely. A folder that is gone has no entries.
std::optional<std::vector<std::string>> entries_of(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  auto it = fs::directory_iterator(folder, error);
  for (; !error && it != fs::end(it); it.increment(error)) found.push_back(it->path().string());
  if (error && error != std::errc::no_such_file_or_directory) return std::nullopt;
  return found;
}

// Calls look(path, statx) for each file below `folder`, but not below the folders `but`. False: a part was
// not looked at. Files in another user's closed folder do not belong to the job.
template <typename Look>
bool walk_tmpdir(const std::string& folder, const std::set<std::string>& but, unsigned user, int most,
                 Look look) {
  bool complete = true;
  int looked_at = 0;
  std::vector<std::string> todo{folder};
  while (!todo.empty()) {
    const auto entries = entries_of(todo.back());
    struct statx st {};
    if (!entries &&
        (rf_file_at(todo.back().c_str(), &st) != 0 || st.stx_uid == user || todo.back() == folder))
      complete = false;
    todo.pop_back();
    for (const std::string& path : entries.value_or(std::vector<std::string>{})) {
      if (++looked_at > most) return false;
      if (but.count(path) || rf_file_at(path.c_str(), &st) != 0) continue;
      if (S_ISDIR(st.stx_mode))
        todo.push_back(path);
      else
        look(path, st);
    }
  }
  return complete;
}

void note(Journal& journal, const char* kind, const std::string& what) {
  journal.write(events::Leftover{{kind, what}});
}

void note_left(UndoList* undo, const std::string& what) {
  if (undo) (void)undo->report_left(what);
}

}  // namespace

HostObjects::HostObjects(const RunDir& run)
    : run_path_(run.path()),
      run_tmp_(run.tmp()),
      watch_(run.kind() == RunKind::kWatch),
      user_(::geteuid()),
      began_(system_clock::now() - kCoarseClock),
      sysv_(sysv_objects()),
      queues_(posix_queues(user_)) {}

void HostObjects::add_process(int pid, uint64_t start) {
  if (!pids_.add(pid, start) || watch_) return;
  const Json env = read_environment(pid, {"TMPDIR"});
  const std::string command = text_of_file(fmt::format("/proc/{}/cmdline", pid));
  if (!env.is_object() || !env.contains("TMPDIR")) return;
  if (const auto now = proc_stat(pid); !now || now->start != start)
    return;  // the environment was another
             // process's
  std::string folder = fs::path(env["TMPDIR"].get<std::string>()).lexically_normal().string();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (!folder.starts_with('/') || is_shared(folder) || is_below(folder, run_tmp_) ||
      is_below(folder, run_path_))
    return;
  tmpdirs_.insert(folder);
  std::istringstream words(command);
  for (std::string word; std::getline(words, word, '\0');) words_.insert(word);
}

void HostObjects::process_ended(int pid, uint64_t start) { pids_.ended(pid, start); }

void HostObjects::list_segment(const SysvObject& segment, UndoList& undo) {
  if (listed_.insert(segment.id).second)
    (void)undo.remove_segment(segment.id, segment.maker, segment.changed);
}

void HostObjects::list_segments(UndoList& undo) {
  if (!sysv_.known) return;
  for (const SysvObject& object : sysv_segments())
    if (!is_among(sysv_.all, object) && may_be_removed(object, pids_, user_)) list_segment(object, undo);
}

void HostObjects::census(Journal& journal, UndoList* undo, events::Census& counts,
                         const std::set<FileNumber>& listed) {
  census_sysv(journal, undo, counts);
  census_queues(journal, undo, counts);
  census_tmpdirs(journal, counts, listed);
}

void HostObjects::census_sysv(Journal& journal, UndoList* undo, events::Census& counts) {
  const SysvObjects now = sysv_objects();
  if (!sysv_.known || !now.known) return;
  const SysvLeft left = sysv_left(sysv_, now, pids_, user_);
  for (const SysvObject& object : left.of_the_job) {
    note(journal, "sysv", to_text(object));
    if (undo && may_be_removed(object, pids_, user_))
      list_segment(object, *undo);
    else
      note_left(undo, to_text(object));
  }
  for (const SysvObject& object : left.unclear) {
    journal.write(events::UnclearLeftover{{"sysv", to_text(object)}});
    note_left(undo, to_text(object));
  }
  counts.sysv = left.of_the_job.size();
}

// The kernel does not tell which process made a queue.
void HostObjects::census_queues(Journal& journal, UndoList* undo, events::Census& counts) const {
  const auto now = posix_queues(user_);
  if (!queues_ || !now) return;
  for (const std::string& name : *now)
    if (!queues_->count(name)) {
      journal.write(events::UnclearLeftover{{"queues", "POSIX message queue /" + name}});
      note_left(undo, "POSIX message queue /" + name);
    }
  counts.queues = 0;
}

// A file in a TMPDIR that other programs use too may belong to any process of this user. The guardian lists
// those that it saw the job hold; the maker of the others is unknown.
void HostObjects::census_tmpdirs(Journal& journal, events::Census& counts,
                                 const std::set<FileNumber>& listed) const {
  std::set<FileNumber> seen = listed;
  for (const std::string& folder : tmpdirs_) {
    const auto look = [&](const std::string& path, const struct statx& st) {
      const rf_file_id id = rf_id_of_file(&st);
      if (!made_since(st, began_, user_) || is_named(words_, path, folder)) return;
      if (seen.insert({id.dev, id.ino}).second) journal.write(events::UnclearLeftover{{"temp_file", path}});
    };
    if (!walk_tmpdir(folder, {run_path_, run_tmp_}, user_, most_files_, look)) counts.temp_files.reset();
  }
}

}  // namespace rankfault
