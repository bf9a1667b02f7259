// find_dumps: finds the dumps among the files of the given paths; see read_dumps.h.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "harness/flight_recorder/dump_names.h"
#include "harness/flight_recorder/read_dumps.h"
#include "harness/flight_recorder/safe_open.h"
#include "harness/flight_recorder/sniff.h"

namespace rankfault {
namespace {

class Finder {
 public:
  explicit Finder(const FrLimits& limits) : limits_(limits) {}

  Status look_at(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return refused(path + ": " + std::strerror(errno));
    if (!S_ISDIR(info.st_mode)) {
      add(path, "", path.substr(path.rfind('/') + 1), open_file(path));
      return Done{};
    }
    const Result<UniqueFd> folder = open_folder(path);
    if (!folder) return refused(path + ": " + folder.error().message);
    Result<std::vector<std::string>> names = names_in(path);
    if (!names) return names.error();
    const std::string start = path.ends_with('/') ? path : path + "/";
    for (const std::string& name : *names) {
      if (is_side_name(name)) continue;  // read with its dump
      if (name.starts_with('.'))
        leave_out(start + name, "a hidden file");
      else
        add(start + name, path, name, open_file_in(folder->get(), name));
    }
    return Done{};
  }

  FrSources finish() {
    std::sort(found_.sources.begin(), found_.sources.end(), [](const FrSource& a, const FrSource& b) {
      return std::pair(a.rank, a.path) < std::pair(b.rank, b.path);
    });
    for (size_t i = 0; i < found_.sources.size(); ++i) {
      const FrSource& source = found_.sources[i];
      if (source.rank < 0)
        say(FrEvidence::Kind::kNoRank, source, "a dump without a rank in its name");
      else if (i > 0 && found_.sources[i - 1].rank == source.rank)
        say(FrEvidence::Kind::kSameRank, source,
            fmt::format("rank {}: {} has the same rank", source.rank, found_.sources[i - 1].path));
    }
    return std::move(found_);
  }

 private:
  static Result<std::vector<std::string>> names_in(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (!folder) return refused(path + ": " + std::strerror(errno));
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void leave_out(const std::string& path, const std::string& why) {
    found_.evidence.push_back({FrEvidence::Kind::kLeftOut, path, -1, why});
  }
  void say(FrEvidence::Kind kind, const FrSource& source, std::string what) {
    found_.evidence.push_back({kind, source.path, source.rank, std::move(what)});
  }

  void add(const std::string& path, const std::string& folder, const std::string& name, Result<UniqueFd> fd) {
    if (!fd) return leave_out(path, fd.error().message);
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) return leave_out(path, std::strerror(errno));
    const auto [other, is_new] = seen_.try_emplace({info.st_dev, info.st_ino}, path);
    if (!is_new) return leave_out(path, "the same file as " + other->second);
    const DumpName parsed = parse_dump_name(name);
    const FrSource source{path, folder, parsed.rank, parsed.host};
    const Result<Sniffed> kind = look_into(std::move(*fd));
    if (kind && (*kind == Sniffed::kPickle || *kind == Sniffed::kJson)) {
      found_.sources.push_back(source);
      return;
    }
    const std::string what = !kind                      ? kind.error().message
                             : *kind == Sniffed::kEmpty ? "dump is empty"
                                                        : "neither a pickle nor JSON";
    if (parsed.rank >= 0)
      say(FrEvidence::Kind::kUnreadable, source, fmt::format("rank {}: {}", parsed.rank, what));
    else
      leave_out(path, kind && *kind == Sniffed::kEmpty ? "an empty file" : what);
  }

  Result<Sniffed> look_into(UniqueFd fd) {
    Result<std::unique_ptr<ByteSource>> bytes = unpacked(file_source(std::move(fd)), limits_);
    if (!bytes) return bytes.error();
    return sniff(**bytes);
  }

  const FrLimits& limits_;
  FrSources found_;
  std::map<std::pair<dev_t, ino_t>, std::string> seen_;
};

}  // namespace

Result<FrSources> find_dumps(const std::vector<std::string>& paths, const FrLimits& limits) {
  Finder finder(limits);
  for (const std::string& path : paths)
    if (Status looked = finder.look_at(path); !looked) return looked.error();
  return finder.finish();
}

}  // namespace rankfault
