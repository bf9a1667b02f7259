// read_dumps: folders and files -> the dumps among them, and the files that are not dumps, with the reason.
//
// The content decides what a file is; its name only tells which rank wrote it. Only regular files are opened;
// links out of a folder are not followed; folders in a folder are left out.
#pragma once

#include <string>
#include <vector>

#include "harness/flight_recorder/limits.h"

namespace rankfault {

struct FrSource {
  std::string path;
  std::string folder;  // links are followed only within it; "": the user named the file itself
  int64_t rank = -1;   // from the name; -1: it has none
  std::string host;    // from the name, a guess
};

// A remark about a file; never a reason to stop.
struct FrEvidence {
  enum class Kind {
    kLeftOut,     // not a dump: a log, a hidden file, a folder
    kUnreadable,  // should be a dump: empty, cut short, hostile
    kSameRank,    // two files of one rank; both are in the result
    kNoRank,      // a dump whose name has no rank
  };
  Kind kind = Kind::kLeftOut;
  std::string path;
  int64_t rank = -1;  // -1: not known
  std::string what;   // "rank 3: dump is empty"

  std::string to_string() const;  // "path: rank 3: dump is empty"
};

struct FrSources {
  std::vector<FrSource> sources;  // by rank, then path; no duplicates
  std::vector<FrEvidence> evidence;
};
// Reads only the first bytes of each file. A path that cannot be read is an error.
Result<FrSources> find_dumps(const std::vector<std::string>& paths, const FrLimits& limits = {});

// One dump, unpacked if it is gzip, with its side file. With a sink, entries go there.
Result<FrDump> read_dump(const FrSource& source, const FrLimits& limits = {}, const FrSink& sink = {});

struct FrDumps {
  std::vector<FrDump> dumps;  // by rank, then path
  std::vector<FrEvidence> evidence;
};
// All of them with all their entries. For very many dumps use find_dumps and read_dump with a sink.
Result<FrDumps> read_dumps(const std::vector<std::string>& paths, const FrLimits& limits = {});

}  // namespace rankfault
