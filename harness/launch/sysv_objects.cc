#include "harness/launch/sysv_objects.h"

#include <fmt/format.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>

#include "harness/base/file_text.h"

namespace rankfault {
namespace {

constexpr int kMostSemaphores = 4096;  // of one set

const char* word(SysvKind kind) {
  switch (kind) {
    case SysvKind::kSegment:
      return "segment";
    case SysvKind::kSemaphores:
      return "semaphore set";
    case SysvKind::kQueue:
      return "message queue";
  }
  return "object";
}

// Names of the columns: later kernels may add some.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string one; in >> one;) words.push_back(one);
  return words;
}

class Row {
 public:
  Row(const std::vector<std::string>& titles, const std::vector<std::string>& values) {
    for (size_t i = 0; i < titles.size() && i < values.size(); ++i) values_[titles[i]] = values[i];
  }
  long long number(const char* title) const {
    const auto found = values_.find(title);
    return found == values_.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
  }

 private:
  std::map<std::string, std::string> values_;
};

SysvObject object_of(SysvKind kind, const Row& row) {
  SysvObject object;
  object.kind = kind;
  object.id = static_cast<int>(row.number(kind == SysvKind::kSegment      ? "shmid"
                                          : kind == SysvKind::kSemaphores ? "semid"
                                                                          : "msqid"));
  object.key = static_cast<unsigned>(row.number("key"));
  object.owner = static_cast<unsigned>(row.number("cuid"));
  object.changed = row.number("ctime");
  object.maker = static_cast<int>(row.number("cpid"));
  for (const auto& [user, at] : {std::pair{"lspid", "stime"}, std::pair{"lrpid", "rtime"}})
    if (const int pid = static_cast<int>(row.number(user))) object.users.push_back({pid, row.number(at)});
  return object;
}

// The kernel keeps the last user of each semaphore, but the time of use only for the whole set. 0: it was not
// used, or may not be read.
void ask_for_users(SysvObject& set, const Row& row) {
  const int64_t at = std::max<int64_t>(row.number("otime"), set.changed);
  const int semaphores = static_cast<int>(std::min<long long>(row.number("nsems"), kMostSemaphores));
  for (int i = 0; i < semaphores; ++i)
    if (const int pid = ::semctl(set.id, i, GETPID); pid > 0) set.users.push_back({pid, at});
}

bool is_there(int pid) { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

bool lives(const SysvObject& object) {
  return is_there(object.maker) || std::any_of(object.users.begin(), object.users.end(),
                                               [](const SysvObject::Use& use) { return is_there(use.pid); });
}

bool is_of(const SysvObject& object, const JobPids& pids) {
  return pids.was_there(object.maker, object.changed) ||
         std::any_of(object.users.begin(), object.users.end(),
                     [&](const SysvObject::Use& use) { return pids.was_there(use.pid, use.at); });
}

constexpr const char* kSegmentTable = "/proc/sysvipc/shm";

struct Table {
  SysvKind kind;
  const char* path;
};
constexpr Table kTables[] = {{SysvKind::kSegment, kSegmentTable},
                             {SysvKind::kSemaphores, "/proc/sysvipc/sem"},
                             {SysvKind::kQueue, "/proc/sysvipc/msg"}};

}  // namespace

std::vector<SysvObject> read_sysv_table(SysvKind kind, const std::string& text) {
  std::vector<SysvObject> objects;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> titles = words_of(line);
  while (std::getline(in, line)) {
    const std::vector<std::string> values = words_of(line);
    if (values.size() != titles.size()) continue;  // a line of another shape is skipped
    const Row row(titles, values);
    objects.push_back(object_of(kind, row));
    if (kind == SysvKind::kSemaphores) ask_for_users(objects.back(), row);
  }
  return objects;
}

SysvObjects sysv_objects() {
  SysvObjects out;
  out.known = true;
  for (const Table& table : kTables) {
    const std::string text = text_of_file(table.path);
    out.known = out.known && !text.empty();  // there is a title line
    for (SysvObject& object : read_sysv_table(table.kind, text)) {
      object.lives = lives(object);
      out.all.push_back(std::move(object));
    }
  }
  return out;
}

std::vector<SysvObject> sysv_segments() {
  return read_sysv_table(SysvKind::kSegment, text_of_file(kSegmentTable));
}

std::string to_text(const SysvObject& object) {
  const int pid = object.maker ? object.maker : object.users.empty() ? 0 : object.users.front().pid;
  return fmt::format("System V {} {} (key {:#x}){}", word(object.kind), object.id, object.key,
                     pid == 0       ? ""
                     : object.maker ? fmt::format(" of process {}", pid)
                                    : fmt::format(", last used by process {}", pid));
}

bool is_among(const std::vector<SysvObject>& all, const SysvObject& object) {
  return std::any_of(all.begin(), all.end(),
                     [&](const SysvObject& o) { return o.kind == object.kind && o.id == object.id; });
}

bool may_be_removed(const SysvObject& object, const JobPids& pids, unsigned user) {
  return object.kind == SysvKind::kSegment && object.owner == user &&
         pids.was_there(object.maker, object.changed);
}

SysvLeft sysv_left(const SysvObjects& before, const SysvObjects& after, const JobPids& pids, unsigned user) {
  SysvLeft left;
  for (const SysvObject& object : after.all) {
    if (is_among(before.all, object)) continue;
    if (object.owner != user && !pids.was_there(object.maker, object.changed)) continue;
    if (is_of(object, pids))
      left.of_the_job.push_back(object);
    else if (!object.lives)
      left.unclear.push_back(object);
  }
  return left;
}

}  // namespace rankfault
