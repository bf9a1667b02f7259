#include "harness/evidence/python_stacks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/base/capture.h"
#include "harness/base/printable.h"
#include "harness/symbols/python_text.h"

namespace rankfault {
namespace {

std::string from_env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_program(const std::string& path) {
  return std::filesystem::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

bool runs_python(const MemoryMap& map) {
  for (const Mapping& m : map.all())
    if (const std::string base = m.path.substr(m.path.rfind('/') + 1);
        base.rfind("libpython", 0) == 0 || base.rfind("python", 0) == 0)
      return true;
  return false;
}

// Returns our thread for Python's thread; null: it has ended. py-spy does not always know the number (a
// foreign namespace, an old interpreter). The main thread is then identified by its name, and any other
// thread is kept as a separate one without a number, because its frames belong to no known thread.
ThreadEvidence* thread_of(const Json& thread, RankEvidence& out) {
  const bool numbered = thread.contains("os_thread_id") && thread["os_thread_id"].is_number();
  const Json& text = thread.contains("thread_name") ? thread["thread_name"] : Json();
  const std::string name = text.is_string() ? printable(text.get<std::string>()) : "";
  const int tid = numbered ? thread["os_thread_id"].get<int>() : name == "MainThread" ? out.pid : 0;
  for (ThreadEvidence& t : out.threads)
    if (tid != 0 && t.tid == tid) return &t;
  if (numbered) return nullptr;
  ThreadEvidence& own = out.threads.emplace_back();
  own.name = name.empty() ? "of Python" : name;
  return &own;
}

}  // namespace

std::string find_py_spy() {
  if (std::string given = from_env("RANKFAULT_PYSPY"); !given.empty()) return given;
  if (const std::string python = from_env("RANKFAULT_PYTHON"); !python.empty()) {
    std::string beside = (std::filesystem::path(python).parent_path() / "py-spy").string();
    if (is_program(beside)) return beside;
  }
  std::stringstream folders(from_env("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(folder + "/py-spy")) return folder + "/py-spy";
  return "";
}

bool take_py_spy(const std::string& text, RankEvidence& out) {
  const Json dump = Json::parse(text, nullptr, false);
  if (!dump.is_array()) return false;
  for (const Json& thread : dump) {
    if (!thread.is_object()) return false;
    ThreadEvidence* const t = thread_of(thread, out);
    if (!t) continue;
    for (const Json& frame : thread.value("frames", Json::array())) {
      const std::string file = frame.value("filename", "");
      t->python.push_back({printable(frame.value("name", "")),
                           printable(python_line_text(file, frame.value("line", 0))),
                           is_python_library(file)});
    }
  }
  return true;
}

void add_python(const MemoryMap& map, Duration limit, RankEvidence& out) {
  if (!runs_python(map)) return;
  const std::string py_spy = find_py_spy();
  if (py_spy.empty()) {
    out.no_python = "no Python frames: `pip install py-spy`, or set RANKFAULT_PYSPY to its path";
    return;
  }
  // --nonblocking: py-spy reads the memory of the process and does not stop it.
  const auto text =
      capture({py_spy, "dump", "--nonblocking", "--json", "--pid", std::to_string(out.pid)}, {limit, false});
  if (!text || !take_py_spy(*text, out))
    out.no_python = fmt::format("no Python frames: `{} dump --pid {}` did not show them", py_spy, out.pid);
}

}  // namespace rankfault
