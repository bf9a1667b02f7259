// dump_names: reads the rank and the host from the name of a dump, and names its side file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankfault {

struct DumpName {
  int64_t rank = -1;  // the digits at the end: "_dump_3", "nccl_trace_rank_12.pkl.gz"; -1: none
  std::string host;   // "host7.example" of "host7.example_rank_3"; "" unless the word rank is there
};

DumpName parse_dump_name(std::string_view file_name);

// A side file's name. PyTorch's analyser takes every file of a folder whose name contains the dumps' prefix
// for a dump, so "<dump>.rankfault.json" would break it. rankfault writes "<rank>.rankfault.json" and reads
// both.
std::string side_name(int64_t rank);
bool is_side_name(std::string_view file_name);

}  // namespace rankfault
