// tool: runs the built rankfault as a user would, for end-to-end tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace rankfault::test {

struct ToolRun {
  int status = -1;     // exit code; 128 + signal when it was killed
  std::string output;  // stdout and stderr together
};

std::string build_dir();   // $RANKFAULT_BUILD_DIR
std::string source_dir();  // $RANKFAULT_SOURCE_DIR
std::string python();      // an interpreter with a PyTorch that is recorded, or ""
// It with torchrun on this machine. That of 1.13 crashes on Python 3.11 unless each stream is named once.
std::vector<std::string> torchrun();
bool have_program(const std::string& name);  // on PATH

// A folder of the test under the system's temporary directory; removed with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;  // its path

 private:
  std::string path_;
};

// Starts the tool and waits for it. ctest's own limit ends a test that hangs.
ToolRun run_tool(const std::vector<std::string>& args, const std::map<std::string, std::string>& env = {});
// The same with another copy of the tool.
ToolRun run_tool_at(const std::string& program, const std::vector<std::string>& args,
                    const std::map<std::string, std::string>& env = {});
// Starts the tool without waiting, and returns its pid. The output goes to a file.
int start_tool(const std::vector<std::string>& args, const std::string& output_path);

std::string read_file(const std::string& path);
Json result_of(const std::string& run_dir);                 // result.json
std::vector<Json> findings_of(const std::string& run_dir);  // in the order of the report
std::vector<std::string> shm_names();                       // what is in /dev/shm now, sorted
// Pids of all processes whose environment names this run directory, wherever they are in the process tree.
std::vector<int> processes_of_run(const std::string& run_dir);

}  // namespace rankfault::test
