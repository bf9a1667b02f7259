// RunDir: the directory that holds a run, its layout and its state machine (incomplete -> complete; the lock
// that a tool holds distinguishes a live incomplete run from a dead one). Its own files: `state.json` {state,
// tmp, tmp_dev, tmp_ino, boot, began_ns, ...}, `lock` (held by the tool), `guardian.lock` (held by the
// guardian until it has undone everything), `undo`.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/base/unique_fd.h"

namespace rankfault {

enum class RunState { kLive, kDead, kComplete };
enum class RunKind { kRun, kWatch };  // a watched job keeps its own TMPDIR
const char* to_text(RunKind);         // "run", "watch"

class RunDir {  // NOLINT(bugprone-exception-escape): moving a JSON value is not declared noexcept
 public:
  // Makes the directory (and its parents); refuses one that exists. If `path` is empty: a fresh name under
  // the runs folder ($RANKFAULT_RUNS, else ./rankfault-runs), from the scenario's name.
  static Result<RunDir> create(const std::string& path, const std::string& scenario_name,
                               RunKind = RunKind::kRun);

  // For the words of a plan: "RUN" and "TMP" stand for the folders, and nothing is made.
  static RunDir planned();
  bool is_planned() const { return path_ == "RUN"; }  // a real path is absolute

  const std::string& path() const { return path_; }  // absolute
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string records() const { return path_ + "/records"; }  // *.ring and *.actions
  std::string logs() const { return path_ + "/logs"; }        // rank-N.aM.log
  RunKind kind() const { return kind_; }
  // A folder of this run's own, removed at the end: below $TMPDIR, else in /tmp; short (sun_path).
  std::string tmp() const { return tmp_; }
  // The TMPDIR of the job: tmp(), or "" if the job keeps its user's.
  std::string job_tmpdir() const { return job_tmpdir_; }
  std::string control() const { return path_ + "/control"; }
  std::string undo() const { return path_ + "/undo"; }

  // Writes a temporary file and renames it; masks values that look secret (harness/base/mask.h).
  Status write_json(const std::string& name, const Json&) const;
  // Unmasked, for its owner alone (mode 0600): what a repeat of the run needs.
  Status write_secret_json(const std::string& name, const Json&) const;
  Status complete();  // state file: incomplete -> complete
  // Removes the directory, all in it and its empty TMPDIR: for a run in which nothing was ever started.
  // Returns "" or what is left, in words.
  std::string discard();

 private:
  Status fill();
  Status make_tmp();
  Status write_state() const;
  Json state_;
  RunKind kind_ = RunKind::kRun;
  std::string path_, tmp_, job_tmpdir_;
  UniqueFd lock_;
};

// The directory alone, by the same rules as RunDir::create, for several runs. Absolute.
Result<std::string> make_run_folder(const std::string& path, const std::string& scenario_name);

std::string boot_id();                      // of this boot of the machine
bool is_tmp_name(const std::string& path);  // the path has the form of RunDir::tmp()
RunState run_state(const std::string& run_dir);
Result<Json> read_json(const std::string& path);

}  // namespace rankfault
