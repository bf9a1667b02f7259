#include "harness/run_dir/origin.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/agent/agent_abi.h"
#include "harness/base/mask.h"
#include "harness/run_dir/run_dir.h"

extern char** environ;

namespace rankfault {
namespace {

namespace fs = std::filesystem;

// Of a larger file, the size and the time of its last change are compared: a run must not wait for its hash.
constexpr uintmax_t kLargest = 8u << 20;

std::string content_of(const fs::path& path) {
  std::error_code none;
  const uintmax_t size = fs::file_size(path, none);
  if (none) return "unreadable";
  if (size > kLargest)
    return fmt::format("{} bytes of {}", size, fs::last_write_time(path, none).time_since_epoch().count());
  std::ifstream in(path, std::ios::binary);
  std::vector<char> piece(1 << 20);
  uint64_t hash = 0;
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    hash = rf_hash_bytes(hash, piece.data(), static_cast<uint64_t>(in.gcount()));
  return fmt::format("{} bytes, {:016x}", size, hash);
}

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

fs::path on_path(const std::string& word) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_file(fs::path(folder) / word)) return fs::path(folder) / word;
  return {};
}

// The file that a word of a command names; empty: none.
fs::path file_of(std::string word, bool first, const std::string& scenario_folder) {
  static const std::string kFolder = "{scenario_dir}";
  if (word.starts_with(kFolder)) word.replace(0, kFolder.size(), scenario_folder);
  if (is_file(word)) return fs::absolute(word).lexically_normal();
  return first && word.find('/') == std::string::npos ? on_path(word) : fs::path{};
}

std::map<std::string, std::string> own_variables() {
  std::map<std::string, std::string> all;
  for (char** one = environ; *one; ++one)
    if (const char* equals = std::strchr(*one, '='))
      all.emplace(std::string(*one, static_cast<size_t>(equals - *one)), equals + 1);
  return all;
}

}  // namespace

Origin origin_of(const std::vector<std::string>& words, const std::string& scenario_file) {
  Origin origin;
  std::error_code none;
  origin.cwd = fs::current_path(none).string();
  origin.environment = own_variables();
  const std::string folder = fs::path(scenario_file).parent_path().string();
  for (size_t i = 0; i < words.size(); ++i)
    if (const fs::path file = file_of(words[i], i == 0, folder.empty() ? "." : folder); !file.empty())
      origin.files[file.string()] = content_of(file);
  return origin;
}

Json to_json(const Origin& origin) {
  return {{"version", 1}, {"cwd", origin.cwd}, {"environment", origin.environment}, {"files", origin.files}};
}

Result<Origin> read_origin(const std::string& run_dir) {
  const std::string path = run_dir + "/origin.json";
  const Result<Json> json = read_json(path);
  if (!json) return json.error();
  try {
    return Origin{json->at("cwd"), json->at("environment"), json->at("files")};
  } catch (const Json::exception&) {
    return usage_error(path + " is not what rankfault writes there");
  }
}

Result<std::vector<std::string>> go_back_to(const Origin& origin) {
  if (::chdir(origin.cwd.c_str()) != 0) return errno_error("go back to " + origin.cwd);
  const std::map<std::string, std::string> here = own_variables();
  std::vector<std::string> masked;
  ::clearenv();
  for (const auto& [name, value] : origin.environment) {
    const bool is_masked = value.find(kMasked) != std::string::npos;
    if (is_masked) masked.push_back(name);
    const auto own = here.find(name);
    if (!is_masked || own != here.end())
      ::setenv(name.c_str(), is_masked ? own->second.c_str() : value.c_str(), 1);
  }
  return masked;
}

std::vector<std::string> changed_files(const Origin& then, const Origin& now) {
  std::vector<std::string> changed;
  for (const auto& [path, content] : then.files) {
    const auto at = now.files.find(path);
    if (at == now.files.end())
      changed.push_back(fmt::format("{}: it is gone", path));
    else if (at->second != content)
      changed.push_back(fmt::format("{}: {}, not {}", path, at->second, content));
  }
  return changed;
}

}  // namespace rankfault
