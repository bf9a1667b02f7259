// read_dumps: see read_dumps.h. Here: one dump from its source, and all of them.
#include "harness/flight_recorder/read_dumps.h"

#include <fmt/format.h>

#include "harness/flight_recorder/dump_names.h"
#include "harness/flight_recorder/json_dump.h"
#include "harness/flight_recorder/pickle.h"
#include "harness/flight_recorder/safe_open.h"
#include "harness/flight_recorder/side_file.h"
#include "harness/flight_recorder/sniff.h"

namespace rankfault {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<UniqueFd> open_source(const FrSource& source) {
  if (source.folder.empty()) return open_file(source.path);
  const Result<UniqueFd> folder = open_folder(source.folder);
  if (!folder) return folder.error();
  return open_file_in(folder->get(), name_of(source.path));
}

// Adds the side file of a dump, under either name. Most dumps have none. A damaged one becomes a note.
void add_side(FrDump& dump, const FrSource& source) {
  const Result<UniqueFd> folder = open_folder(folder_of(source.path));
  if (!folder) return;
  for (const std::string& name : {name_of(source.path) + ".rankfault.json", side_name(source.rank)}) {
    Result<UniqueFd> fd = open_file_in(folder->get(), name);
    if (!fd) continue;
    std::string text(kLargestSideFile, '\0');
    const Result<size_t> count = file_source(std::move(*fd))->read(text.data(), text.size());
    if (!count) continue;
    text.resize(*count);
    Result<FrSide> side = side_from_json(text);
    if (!side) {
      dump.notes.push_back(name + ": " + side.error().message);
      continue;
    }
    if (dump.rank >= 0 && side->rank >= 0 && side->rank != dump.rank)
      dump.notes.push_back(fmt::format("{}: says rank {}", name, side->rank));
    else if (dump.rank < 0)
      dump.rank = side->rank;
    if (dump.hostname.empty()) dump.hostname = side->host;
    dump.side = std::move(*side);
    return;
  }
}

std::string with_rank(int64_t rank, const std::string& what) {
  return rank < 0 ? what : fmt::format("rank {}: {}", rank, what);
}

}  // namespace

std::string FrEvidence::to_string() const { return path + ": " + what; }

Result<FrDump> read_dump(const FrSource& source, const FrLimits& limits, const FrSink& sink) {
  Result<UniqueFd> fd = open_source(source);
  if (!fd) return fd.error();
  Result<std::unique_ptr<ByteSource>> bytes = unpacked(file_source(std::move(*fd)), limits);
  if (!bytes) return bytes.error();
  const Result<Sniffed> sniffed = sniff(**bytes);
  if (!sniffed) return sniffed.error();
  if (*sniffed == Sniffed::kEmpty) return refused("dump is empty");
  if (*sniffed == Sniffed::kOther) return refused("neither a pickle nor JSON");
  Result<FrDump> dump =
      *sniffed == Sniffed::kJson ? read_json_dump(**bytes, limits, sink) : read_pickle(**bytes, limits, sink);
  if (!dump) return dump;
  dump->path = source.path;
  dump->rank = source.rank;
  dump->host = source.host;
  add_side(*dump, source);
  return dump;
}

Result<FrDumps> read_dumps(const std::vector<std::string>& paths, const FrLimits& limits) {
  Result<FrSources> found = find_dumps(paths, limits);
  if (!found) return found.error();
  FrDumps all;
  all.evidence = std::move(found->evidence);
  for (const FrSource& source : found->sources) {
    Result<FrDump> dump = read_dump(source, limits);
    if (dump)
      all.dumps.push_back(std::move(*dump));
    else
      all.evidence.push_back({FrEvidence::Kind::kUnreadable, source.path, source.rank,
                              with_rank(source.rank, dump.error().message)});
  }
  return all;
}

}  // namespace rankfault
