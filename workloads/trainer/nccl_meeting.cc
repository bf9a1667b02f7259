// nccl_meeting: the id is a file in the store. A rename makes it visible only when it is complete.
#include "workloads/trainer/nccl_meeting.h"

#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "workloads/trainer/file.h"

namespace trainer {

namespace {

void leave_id(const std::string& place, const ncclUniqueId& id) {
  const std::string unfinished = place + ".tmp";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(id.internal, sizeof id.internal);
  file.close();
  if (!file || std::rename(unfinished.c_str(), place.c_str()) != 0)
    throw CollectiveError("other", system_error("cannot write", place));
}

bool take_id(const std::string& place, ncclUniqueId* id) {
  std::ifstream file(place, std::ios::binary);
  return static_cast<bool>(file.read(id->internal, sizeof id->internal));
}

}  // namespace

std::shared_ptr<NcclJob> job_of(const Meeting& meeting) {
  auto job = std::make_shared<NcclJob>();
  job->store = meeting.store;
  job->tell_failures = meeting.tell_failures;
  job->end_by_abort = meeting.end_by_abort;
  ::mkdir(meeting.store.c_str(), 0700);  // the first rank makes it; a failure shows in the first write
  return job;
}

ncclUniqueId exchange_id(const Meeting& meeting, NcclJob& job) {
  const std::string place = meeting.store + "/nccl_id";
  Patience patience("init", meeting.to_meet, job);
  ncclUniqueId id;
  if (meeting.rank == 0) {
    if (const ncclResult_t result = ncclGetUniqueId(&id); result != ncclSuccess)
      patience.fail("other", ncclGetErrorString(result));
    leave_id(place, id);
  }
  while (!take_id(place, &id)) patience.pause();
  return id;
}

}  // namespace trainer
