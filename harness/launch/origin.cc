#include "harness/launch/origin.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "harness/base/file_text.h"
#include "harness/base/json_text.h"
#include "harness/base/mask.h"
#include "harness/base/own_environment.h"
#include "harness/launch/launcher.h"
#include "harness/run_dir/run_dir.h"

namespace rankfault {
namespace {

namespace fs = std::filesystem;

// Of a larger file, the size and the time of its last change are compared: a run must not wait for its hash.
constexpr uintmax_t kLargest = 8u << 20;
constexpr int kVersion = 1;
constexpr size_t kSearched = 4096;  // of a value: std::regex is recursive

std::string content_of(const fs::path& path) {
  std::error_code none;
  const uintmax_t size = fs::file_size(path, none);
  if (none) return "unreadable";
  if (size > kLargest)
    return fmt::format("{} bytes of {}", size, fs::last_write_time(path, none).time_since_epoch().count());
  return fmt::format("{} bytes, {:016x}", size, hash_of_file(path.string()));
}

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

// The file that a word of a command names; empty: none.
fs::path file_of(std::string word, bool first, const std::string& scenario_folder) {
  static const std::string kFolder = "{scenario_dir}";
  if (word.starts_with(kFolder)) word.replace(0, kFolder.size(), scenario_folder);
  if (is_file(word)) return fs::absolute(word).lexically_normal();
  return first && word.find('/') == std::string::npos ? fs::path(program_on_path(word)) : fs::path{};
}

// A secret by its name, a password in an address ("postgres://user:password@host"), or bytes that JSON cannot
// hold.
bool may_be_kept(const std::string& name, const std::string& value) {
  static const std::regex kPassword("://[^/@ ]*:[^/@ ]*@");
  return masked_value(name, value) == value && !std::regex_search(value.substr(0, kSearched), kPassword) &&
         fits_json(name) && fits_json(value);
}

}  // namespace

Origin origin_of(const std::vector<std::string>& words, const std::string& scenario_file) {
  Origin origin;
  std::error_code none;
  origin.cwd = fs::current_path(none).string();
  for (auto& [name, value] : own_environment())
    if (may_be_kept(name, value))
      origin.environment[name] = value;
    else
      origin.left_out.push_back(name);
  const std::string folder = fs::path(scenario_file).parent_path().string();
  for (size_t i = 0; i < words.size(); ++i)
    if (const fs::path file = file_of(words[i], i == 0, folder.empty() ? "." : folder); !file.empty())
      origin.files[file.string()] = content_of(file);
  return origin;
}

Json to_json(const Origin& origin) {
  return {{"version", kVersion},
          {"cwd", origin.cwd},
          {"environment", origin.environment},
          {"left_out", origin.left_out},
          {"files", origin.files}};
}

Result<Origin> read_origin(const std::string& run_dir) {
  const std::string path = run_dir + "/origin.json";
  const Result<Json> json = read_json(path);
  if (!json) return json.error();
  try {
    if (json->at("version") != kVersion) return usage_error(path + " is of another version of rankfault");
    return Origin{json->at("cwd"), json->at("environment"), json->at("left_out"), json->at("files")};
  } catch (const Json::exception&) {
    return usage_error(path + " is not what rankfault writes there");
  }
}

Status go_back_to(const Origin& origin) {
  if (origin.cwd.empty())
    return usage_error("the directory in which this run started was gone then: use --here");
  if (::chdir(origin.cwd.c_str()) != 0) return errno_error("go back to " + origin.cwd);
  const std::map<std::string, std::string> here = own_environment();
  ::clearenv();
  for (const auto& [name, value] : origin.environment) ::setenv(name.c_str(), value.c_str(), 1);
  for (const std::string& name : origin.left_out)
    if (const auto own = here.find(name); own != here.end()) ::setenv(name.c_str(), own->second.c_str(), 1);
  return Done{};
}

std::vector<std::string> changed_files(const Origin& then, const Origin& now) {
  std::vector<std::string> changed;
  for (const auto& [path, content] : then.files) {
    const auto at = now.files.find(path);
    if (at == now.files.end())
      changed.push_back(fmt::format("{}: it is gone", path));
    else if (at->second != content)
      changed.push_back(fmt::format("{}: now {}, was {}", path, at->second, content));
  }
  return changed;
}

}  // namespace rankfault
