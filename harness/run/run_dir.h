// RunDir: the directory that holds a run, its layout and its state machine
// (incomplete -> complete; a dead incomplete run is told from a live one by the lock its tool holds).
//
// Files of its own: `state.json` {state, tmp, tmp_dev, tmp_ino, boot, began_ns, ...}, `lock` (held by the
// tool), `guardian.lock` (held by the guardian until it has undone everything), `undo`.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

enum class RunState { kLive, kDead, kComplete };

class RunDir {  // NOLINT(bugprone-exception-escape): moving a JSON value is not declared noexcept
 public:
  // Makes the directory (and its parents); refuses one that exists. `path` empty: a fresh name
  // under the runs folder ($RANKFAULT_RUNS, else ./rankfault-runs), from the scenario's name.
  static Result<RunDir> create(const std::string& path, const std::string& scenario_name);

  const std::string& path() const { return path_; }  // absolute
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string records() const { return path_ + "/records"; }  // *.ring and *.actions
  std::string logs() const { return path_ + "/logs"; }        // rank-N.aM.log
  std::string tmp() const { return tmp_; }  // the job's TMPDIR: short (sun_path), removed at the end
  std::string control() const { return path_ + "/control"; }
  std::string undo() const { return path_ + "/undo"; }

  Status write_json(const std::string& name, const Json&) const;  // temp + rename
  Status complete();                                              // state file: incomplete -> complete
  // Removes it, all in it and its empty TMPDIR: for a run in which nothing was ever started. "" or what is
  // left, in words.
  std::string discard();

 private:
  Status fill();
  Status make_tmp();
  Json state_;
  std::string path_, tmp_;
  UniqueFd lock_;
};

// The directory alone, by the same rules as RunDir::create: for what holds several runs. Absolute.
Result<std::string> make_run_folder(const std::string& path, const std::string& scenario_name);

std::string boot_id();  // of this boot of the machine
RunState run_state(const std::string& run_dir);
Result<Json> read_json(const std::string& path);

}  // namespace rankfault
