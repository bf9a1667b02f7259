// Patience: polls at first without pauses, and then sleeps between polls. The report of a failure is a file
// that can be made only once.
#include "workloads/trainer/nccl_patience.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

#include "workloads/trainer/file.h"

namespace trainer {

namespace {

constexpr uint64_t kLooksBeforeSleep = 200;  // a call that all ranks have entered completes within them
constexpr uint64_t kLooksBetweenNews = 20;
constexpr timespec kSleep = {0, 50'000};  // a longer wait leaves the core to the other ranks

std::string place_of_news(const std::string& store) { return store + "/failed"; }

}  // namespace

// Writes the file under another name and links it, so that a reader sees all of it. Only the first link
// succeeds.
void NcclJob::tell(const std::string& text) const {
  if (!tell_failures) return;
  const std::string mine = place_of_news(store) + "." + std::to_string(getpid());
  std::ofstream(mine) << text;
  [[maybe_unused]] const bool first = ::link(mine.c_str(), place_of_news(store).c_str()) == 0;
  ::unlink(mine.c_str());
}

std::string NcclJob::told() const {
  if (!tell_failures || ::access(place_of_news(store).c_str(), F_OK) != 0) return "";
  std::ifstream news(place_of_news(store));
  std::string text;
  std::getline(news, text);
  return "a peer told: " + text;
}

Patience::Patience(std::string operation, Limit limit, NcclJob& job)
    : operation_(std::move(operation)), limit_(limit), job_(job) {}

void Patience::pause() {
  if (++looks_ < kLooksBeforeSleep) return;
  using std::chrono::milliseconds;
  const auto elapsed =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began_).count();
  std::string after = std::to_string(elapsed) + " ms";
  if (successes_ > 0)
    after += "; NCCL's error state was asked " + std::to_string(successes_) + " times and said success";
  if (limit_ && elapsed >= limit_->count()) fail("timeout", after);
  if (job_.interrupted) fail("timeout", "interrupted after " + after);
  if (looks_ % kLooksBetweenNews == 0)
    if (const std::string news = job_.told(); !news.empty()) give_up("peer_lost", news);
  nanosleep(&kSleep, nullptr);
}

void Patience::fail(const std::string& kind, const std::string& text) const {
  job_.tell(operation_ + " failed: " + text);
  give_up(kind, text);
}

void Patience::give_up(const std::string& kind, const std::string& text) const {
  job_.broken = true;
  throw CollectiveError(kind, operation_ + " failed: " + text);
}

}  // namespace trainer
