// made_files: see made_files.h.
#include "harness/live/made_files.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "harness/launch/guardian/file_id.h"
#include "harness/live/census.h"
#include "harness/observe/call_history.h"

namespace rankfault {
namespace {

std::set<std::string> lines_of(const std::string& path) {
  std::set<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
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
  std::set<std::string> known = lines_of(undo_path);
  for (const MadeFile& made : files_made(timeline)) {
    struct statx st {};
    if (rf_file_at(as_guardian_sees(guardian_pid, made.path).c_str(), &st) != 0) continue;
    const rf_file_id now = rf_id_of_file(&st);
    if (!S_ISREG(st.stx_mode) || now.ino != made.inode || now.born != made.born) continue;
    const std::string line = fmt::format("remove-file {} {} {} {}", now.dev, now.ino, now.born, made.path);
    if (!known.insert(line).second) continue;
    if (Status added = undo.add(line); !added) return added;
  }
  return Done{};
}

}  // namespace rankfault
