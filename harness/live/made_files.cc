// made_files: see made_files.h.
#include "harness/live/made_files.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "harness/launch/guardian/file_id.h"
#include "harness/live/census.h"

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
  for (const ProcessView& process : timeline.processes)
    for (const Event& event : process.events().value_or(std::vector<Event>{})) {
      const rf_record& r = event.record;
      if (r.library != RF_LIB_LIBC || r.op != RF_OP_SHM_CREATE || r.phase != RF_PHASE_EXIT ||
          r.tag_or_result != 0 || r.where == 0)
        continue;
      const auto name = process.name_at.find(static_cast<uint32_t>(r.seq));
      if (name != process.name_at.end()) made.push_back({name->second, r.count, r.where});
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
