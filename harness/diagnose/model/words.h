// words: formats calls, ranks and communicators for findings.
#pragma once

#include <string>
#include <vector>

#include "harness/base/rank_words.h"
#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"

namespace rankfault {

std::string counted(size_t n, const char* noun);  // "3 edges"
// Returns "all_reduce float32 x 1024 sum on world, call 3". A count that may differ between ranks by design
// is this rank's own share; it is omitted if the text covers several ranks.
std::string call_text(const Call&, const CommGroup&, bool own_share = true);
// Describes where a rank is because of a call: "waits in all_reduce ...", with the given words for a blocking
// call; for an enqueued call "waits in cudaStreamSynchronize for all_reduce ...", or "has enqueued all_reduce
// ...".
std::string stands_text(const char* words, const Call&, const Call* held, const CommGroup&);
std::string name_of_call(const Call&);                  // "all_reduce", "MPI_File_open"
std::string short_call(const Call&, const CommGroup&);  // "all_reduce 3 on world"
// "send to rank 0 on world", "all_reduce on world": without the sequence number.
std::string called_text(const Call&, const CommGroup&);
// "rank 1"; if its process is several members of the communicator: "member 2 of rank 1".
std::string member_text(const CommGroup&, const Member&);
// call_site_of() returns the call's source line if that is known, else place_of(), its place in a module.
// Calls are compared by place_of(), because two calls on one line of C are two places.
std::string call_site_of(const Process&, const Call&);
std::string place_of(const Process&, const Call&);
std::string end_text(const ProcessEnd&);               // "killed by SIGKILL", "exited with 3"
std::string ends_by_of(const Call&, const CommView*);  // the known limit, or ""

// The members' calls as sides: groups equal texts, in order of the first rank.
struct MemberCall {
  const Member* member;
  const Call* call;  // null: none
};
std::vector<Side> sides_of(const std::vector<MemberCall>&, const CommGroup&);

void set_comm(Finding&, const CommGroup&);
void set_seq(Finding&,
             const Call&);  // for a call with a place in its communicator's order; messages have none
void set_time(Finding&, const Process&, Instant);  // of an event of that process
std::vector<int> sorted_unique(std::vector<int>);

}  // namespace rankfault
