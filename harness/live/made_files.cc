#include "harness/live/made_files.h"

#include <fstream>
#include <set>
#include <tuple>

#include "harness/launch/guardian/file_id.h"
#include "harness/live/census.h"
#include "harness/observe/call_history.h"

namespace rankfault {
namespace {

using ListedFile = std::tuple<uint64_t, uint64_t, uint64_t, std::string>;  // device, inode, birth, path

std::set<ListedFile> files_to_remove(const std::string& undo_path) {
  std::set<ListedFile> files;
  std::ifstream in(undo_path);
  for (std::string line; std::getline(in, line);)
    if (const rf_undo_entry entry = rf_undo_parse(line.c_str()); entry.kind == RF_UNDO_FILE)
      files.insert({entry.file.dev, entry.file.ino, entry.file.born, entry.text});
  return files;
}

}  // namespace

std::vector<MadeFile> files_made(const Timeline& timeline) {
  std::vector<MadeFile> made;
  for (const ProcessView& process : timeline.processes) {
    const CallHistory history(process);
    for (const RecordedCall* call : history.file_calls(RF_OP_SHM_CREATE))
      if (call->left_with_success() && call->leave->where != 0)
        made.push_back({*history.path_of(*call), call->leave->count, call->leave->where});
  }
  return made;
}

Status list_made_files(const Timeline& timeline, int guardian_pid, const std::string& undo_path,
                       UndoList& undo) {
  std::set<ListedFile> known = files_to_remove(undo_path);
  for (const MadeFile& made : files_made(timeline)) {
    struct statx st {};
    if (rf_file_at(as_guardian_sees(guardian_pid, made.path).c_str(), &st) != 0) continue;
    const rf_file_id now = rf_id_of_file(&st);
    if (!S_ISREG(st.stx_mode) || now.ino != made.inode || now.born != made.born) continue;
    if (!known.insert({now.dev, now.ino, now.born, made.path}).second) continue;
    if (Status added = undo.remove_file(now, made.path); !added) return added;
  }
  return Done{};
}

}  // namespace rankfault
