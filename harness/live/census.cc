#include "harness/live/census.h"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "harness/base/command_line.h"
#include "harness/base/file_text.h"
#include "harness/base/process_tree.h"
#include "harness/launch/guardian/file_id.h"
#include "harness/launch/own_folders.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

void note(Journal& journal, const char* kind, const std::string& what, std::optional<uint64_t>& count) {
  ++*count;
  journal.write(events::Leftover{{kind, what}});
}

void note_file(Journal& journal, const std::string& path, mode_t mode, events::Census& counts) {
  if (S_ISSOCK(mode)) return note(journal, "socket", path, counts.sockets);
  if (path.rfind("/dev/shm/", 0) == 0) return note(journal, "shm", path, counts.shm);
  note(journal, "temp_file", path, counts.temp_files);
}

using SocketNames = std::map<std::string, std::string>;  // by inode

SocketNames abstract_sockets(const std::string& proc) {
  SocketNames names;
  std::istringstream table(text_of_file(proc + "/net/unix"));
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string skipped, inode, name;
    for (int i = 0; i < 6; ++i) words >> skipped;
    if (words >> inode >> name && name.starts_with('@')) names[inode] = name;
  }
  return names;
}

// Abstract sockets have no file: they exist as long as a process has them open. `tables`: one for each
// network namespace.
std::set<std::string> abstract_sockets_of(int pid, std::map<std::string, SocketNames>& tables) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::set<std::string> found;
  std::error_code none;
  const std::string net = fs::read_symlink(proc + "/ns/net", none).string();
  if (none) return found;  // the process is gone, or another user's
  auto table = tables.find(net);
  if (table == tables.end()) table = tables.emplace(net, abstract_sockets(proc)).first;
  const SocketNames& names = table->second;
  for (auto it = fs::directory_iterator(proc + "/fd", none); !none && it != fs::end(it); it.increment(none)) {
    const std::string link = fs::read_symlink(it->path(), none).string();
    if (!link.starts_with("socket:[") || none) continue;
    if (const auto name = names.find(link.substr(8, link.size() - 9)); name != names.end())
      found.insert(name->second);
  }
  return found;
}

// Waits for the end of a process that already exits: its memory may take the kernel some milliseconds. One
// that the kernel holds longer is left behind.
bool is_over(int pid) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (;;) {
    const auto stat = proc_stat(pid);
    if (!stat || stat->state == 'Z' || stat->state == 'X') return true;  // the guardian reaps a zombie
    if (!stat->dying || std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

std::string as_guardian_sees(int guardian_pid, const std::string& path) {
  return path.starts_with("/dev/shm/") ? "/proc/" + std::to_string(guardian_pid) + "/root" + path : path;
}

void take_census(const RunDir& run, int guardian_pid, HostObjects& host, UndoList* undo_list,
                 Journal& journal) {
  events::Census counts{.processes = 0, .shm = 0, .sockets = 0, .temp_files = 0, .sysv = {}, .queues = {}};
  std::map<std::string, SocketNames> sockets;
  for (const int pid : descendants_of(guardian_pid)) {
    const auto stat = proc_stat(pid);
    if (!stat || is_over(pid)) continue;
    host.add_process(pid, stat->start);
    note(journal, "process", std::to_string(pid) + " " + command_line(pid), counts.processes);
    for (const std::string& name : abstract_sockets_of(pid, sockets))
      note(journal, "socket", name + " of process " + std::to_string(pid), counts.sockets);
  }
  std::set<FileNumber> seen;
  std::ifstream undo(run.undo());
  for (std::string line; std::getline(undo, line);) {
    const rf_undo_entry made = rf_undo_parse(line.c_str());
    if (made.kind != RF_UNDO_FILE && made.kind != RF_UNDO_LEFT_FILE) continue;
    struct statx st {};
    if (rf_file_at(as_guardian_sees(guardian_pid, made.text).c_str(), &st) != 0) continue;
    const rf_file_id now = rf_id_of_file(&st);
    if (rf_same_file(&made.file, &now) && seen.insert({now.dev, now.ino}).second)
      note_file(journal, made.text, st.stx_mode, counts);
  }
  // The job's TMPDIR: everything in it except what we made ourselves: the rendezvous stores, and the folder
  // where the ranks meet over the double of CUDA.
  std::error_code none;
  // Seen from the guardian, because a folder in it may be a file system of the job's own.
  const std::string seen_from = "/proc/" + std::to_string(guardian_pid) + "/root";
  const std::string root = fs::exists(seen_from + run.tmp(), none) ? seen_from : "";
  for (auto it = fs::recursive_directory_iterator(root + run.tmp(), none); it != fs::end(it);
       it.increment(none)) {
    if (none) break;
    const std::string name = it->path().filename().string();
    if (it.depth() == 0 && is_own_folder(name)) {
      it.disable_recursion_pending();
      continue;
    }
    struct stat st {};
    if (::lstat(it->path().c_str(), &st) == 0 && !S_ISDIR(st.st_mode) &&
        seen.insert({st.st_dev, st.st_ino}).second)
      note_file(journal, it->path().string().substr(root.size()), st.st_mode, counts);
  }
  host.census(journal, undo_list, counts, seen);
  journal.write(counts);
}

}  // namespace rankfault
