// check_program: can this program be started, and can the agent be loaded into it?
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "harness/base/unique_fd.h"
#include "harness/launch/launcher.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// As execvp does; "" when there is none.
std::string on_path(const std::string& program, const std::map<std::string, std::string>& env) {
  const auto path = env.find("PATH");
  std::stringstream folders(path == env.end() ? "/bin:/usr/bin" : path->second);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string candidate = (folder.empty() ? "." : folder) + "/" + program; is_program(candidate))
      return candidate;
  return "";
}

// An error's text, or "".
std::string check_elf(const std::string& path, int fd, bool needs_agent) {
  Elf64_Ehdr header{};
  if (::pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header))
    return path + " is a truncated ELF program";
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return path + " is not a 64-bit program, which the agent needs";
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return path + " is an ELF file but not a program";
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto at = static_cast<off_t>(header.e_phoff + static_cast<uint64_t>(i) * header.e_phentsize);
    if (::pread(fd, &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment)) break;
    if (segment.p_type == PT_INTERP) return "";
  }
  return needs_agent ? path + ": the agent cannot be loaded into a statically linked program" : "";
}

std::string check_file(const std::string& path, const std::map<std::string, std::string>& env,
                       bool needs_agent, int depth);

// "#!/usr/bin/env python3": both env and what it looks for.
std::string check_script(const std::string& path, const std::string& line,
                         const std::map<std::string, std::string>& env, bool needs_agent, int depth) {
  std::stringstream words(line);
  std::string interpreter, argument;
  words >> interpreter >> argument;
  if (interpreter.empty() || depth > 4) return path + " names no interpreter after #!";
  if (fs::path(interpreter).filename() == "env" && !argument.empty() && argument[0] != '-') {
    const std::string found = on_path(argument, env);
    if (found.empty()) return fmt::format("{} needs {}, which is not on PATH", path, argument);
    interpreter = found;
  }
  if (!is_program(interpreter))
    return fmt::format("{} needs {}, which cannot be executed", path, interpreter);
  return check_file(interpreter, env, needs_agent, depth + 1);
}

std::string check_file(const std::string& path, const std::map<std::string, std::string>& env,
                       bool needs_agent, int depth) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno == EACCES ? "" : fmt::format("open {}: {}", path, std::strerror(errno));
  char start[256] = {};
  const ssize_t n = ::pread(fd.get(), start, sizeof start - 1, 0);
  if (n >= SELFMAG && std::memcmp(start, ELFMAG, SELFMAG) == 0) return check_elf(path, fd.get(), needs_agent);
  if (n >= 2 && start[0] == '#' && start[1] == '!')
    return check_script(path, std::string(start + 2, std::strcspn(start + 2, "\n")), env, needs_agent, depth);
  return path + " is neither an ELF program nor a script that begins with #!";
}

}  // namespace

std::string path_of(const std::string& program, const std::map<std::string, std::string>& env,
                    const std::string& cwd) {
  if (program.find('/') == std::string::npos) return on_path(program, env);
  return program[0] != '/' && !cwd.empty() ? cwd + "/" + program : program;
}

std::string program_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  return path_of(program, {{"PATH", path ? path : ""}}, "");
}

Status check_program(const std::string& program, const std::map<std::string, std::string>& env,
                     const std::string& cwd, bool needs_agent, const SourcePos& where) {
  const std::string path = path_of(program, env, cwd);
  if (path.empty()) return usage_error(fmt::format("{}: not found on PATH", program), where);
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0)
    return usage_error(fmt::format("{}: {}", path, std::strerror(errno)), where);
  if (S_ISDIR(st.st_mode)) return usage_error(path + " is a directory, not a program", where);
  if (!is_program(path))
    return usage_error(fmt::format("{} cannot be executed (its mode is {:o})", path, st.st_mode & 07777u),
                       where);
  const std::string problem = check_file(path, env, needs_agent, 0);
  if (!problem.empty()) return usage_error(problem, where);
  return Done{};
}

}  // namespace rankfault
