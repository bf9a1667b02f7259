// MeetAgain: writes and reads the files present-ID, world and ready-ID.
#include "workloads/trainer/meet_again.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/file.h"

namespace trainer {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{5};

[[noreturn]] void cannot(const std::string& what, const std::string& path) {
  throw CollectiveError("other", system_error(what, path));
}

void make(const std::string& path) {
  File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) cannot("cannot create", path);
}

std::vector<int> those_with(const std::string& path_and_dash, const std::vector<int>& members) {
  std::vector<int> there;
  for (int member : members)
    if (::access((path_and_dash + std::to_string(member)).c_str(), F_OK) == 0) there.push_back(member);
  return there;
}

// Returns true as soon as done() is true, and false when the limit has passed.
bool wait_until(std::chrono::milliseconds limit, const std::function<bool()>& done) {
  const auto deadline = Clock::now() + limit;
  while (!done()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

// The first rank that links its list makes the record. Every rank, also one that proposed, uses only the
// record.
void propose(const std::string& directory, int id, const std::vector<int>& members) {
  const std::string mine = directory + "/world." + std::to_string(id) + ".tmp";
  {
    std::ofstream list(mine);
    for (int member : members) list << member << '\n';
    if (!list.flush()) cannot("cannot write", mine);
  }
  const int linked = ::link(mine.c_str(), (directory + "/world").c_str());
  if (linked != 0 && errno != EEXIST) cannot("cannot link", mine);
  ::unlink(mine.c_str());
}

std::vector<int> read_record(const std::string& path) {
  std::ifstream list(path);
  std::vector<int> members;
  for (int member = 0; list >> member;) members.push_back(member);
  return members;
}

std::string missing_of(const std::vector<int>& members, const std::vector<int>& there) {
  std::string text;
  for (int member : members)
    if (std::find(there.begin(), there.end(), member) == there.end()) text += " " + std::to_string(member);
  return text;
}

}  // namespace

std::string directory_of(const std::string& store, int generation) {
  return store + "/again-" + std::to_string(generation);
}

std::vector<int> agree_on_members(const Gathering& gathering) {
  const std::string directory = directory_of(gathering.store, gathering.generation);
  const std::string record = directory + "/world";
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) cannot("cannot make", directory);
  make(directory + "/present-" + std::to_string(gathering.id));
  if (gathering.came) gathering.came();

  const auto recorded = [&] { return ::access(record.c_str(), F_OK) == 0; };
  const auto present = [&] { return those_with(directory + "/present-", gathering.members); };
  wait_until(gathering.wait, [&] { return recorded() || present().size() == gathering.members.size(); });
  if (!recorded()) propose(directory, gathering.id, present());

  std::vector<int> members = read_record(record);
  if (std::find(members.begin(), members.end(), gathering.id) == members.end())
    throw CollectiveError("excluded", "the other ranks continued without this rank, which was late");

  make(directory + "/ready-" + std::to_string(gathering.id));
  const auto ready = [&] { return those_with(directory + "/ready-", members); };
  if (!wait_until(gathering.wait, [&] { return ready().size() == members.size(); }))
    throw CollectiveError("peer_lost", "not ready in generation " + std::to_string(gathering.generation) +
                                           ": rank" + missing_of(members, ready()));
  return members;
}

}  // namespace trainer
