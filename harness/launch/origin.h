// Origin: what a run started from, besides its plan: the working directory, the environment, and the files
// that its command names. RUN/origin.json (mode 0600) keeps it for `rankfault replay`, without the variables
// that look secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rankfault {

struct Origin {
  std::string cwd;
  std::map<std::string, std::string> environment;
  std::vector<std::string> left_out;         // names of variables whose values are not kept
  std::map<std::string, std::string> files;  // absolute path -> its size, and a hash or its time
};

// Of this process. `words`: those that name a file are followed; the first one also along PATH.
Origin origin_of(const std::vector<std::string>& words, const std::string& scenario_file);

Json to_json(const Origin&);
Result<Origin> read_origin(const std::string& run_dir);  // a run of an older rankfault has none

// Gives this process the directory and the environment of the origin. A variable that was left out keeps the
// value that it has here.
Status go_back_to(const Origin&);

// Lines for the user: the files that are not what they were. Both are compared by path.
std::vector<std::string> changed_files(const Origin& then, const Origin& now);

}  // namespace rankfault
