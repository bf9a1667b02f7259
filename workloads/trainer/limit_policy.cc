// LimitPolicy: selects the limit of a call, formats a call in progress, and reads the options.
#include "workloads/trainer/limit_policy.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>

#include "workloads/trainer/options.h"

namespace trainer {

namespace {

using std::chrono::milliseconds;

// Formats "all_reduce" as production log lines do: "ALLREDUCE".
std::string loud(const std::string& op) {
  std::string name;
  for (const char letter : op)
    if (letter != '_') name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return name;
}

// Reads "a:1s,b:2s" into pairs; none if a part is invalid.
std::optional<std::vector<std::pair<std::string, milliseconds>>> pairs_in(const std::string& text) {
  std::vector<std::pair<std::string, milliseconds>> pairs;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    const auto limit = colon == std::string::npos ? std::nullopt : parse_duration(word.substr(colon + 1));
    if (!limit || limit->count() == 0) return std::nullopt;
    pairs.emplace_back(word.substr(0, colon), *limit);
  }
  if (pairs.empty()) return std::nullopt;
  return pairs;
}

}  // namespace

std::string CallInFlight::told(std::chrono::steady_clock::time_point now) const {
  const auto elapsed = std::chrono::duration_cast<milliseconds>(now - begun).count();
  return loud(op) + " seq " + std::to_string(seq) + " numel " + std::to_string(numel) + " timeout(ms) " +
         (limit ? std::to_string(limit->count()) : "none") + " ran for " + std::to_string(elapsed) + " ms";
}

Limit LimitPolicy::of(Phase phase, const std::string& op, size_t numel) const {
  Limit limit = train;
  if (phase == Phase::kEvaluation && evaluation) {
    limit = evaluation;
  } else if (phase == Phase::kCheckpoint && limit) {
    limit = checkpoint ? *checkpoint : *limit * 10;
  } else if (op == "barrier" && barrier) {
    limit = barrier;
  } else if (op != "barrier" && numel <= kSmallCount && small) {
    limit = small;
  }
  for (const BySize& size : sizes)
    if (limit && numel >= size.from) limit = std::max(*limit, size.limit);
  return limit;
}

Limit LimitPolicy::longest() const {
  Limit limit = train;
  for (const Limit& other : {evaluation, small, barrier, checkpoint})
    if (limit && other) limit = std::max(*limit, *other);
  for (const BySize& size : sizes)
    if (limit) limit = std::max(*limit, size.limit);
  return limit;
}

bool read_phase_limits(const std::string& text, LimitPolicy* policy) {
  const auto pairs = pairs_in(text);
  const std::map<std::string, Limit LimitPolicy::*> phases = {{"train", &LimitPolicy::train},
                                                              {"evaluation", &LimitPolicy::evaluation},
                                                              {"small", &LimitPolicy::small},
                                                              {"barrier", &LimitPolicy::barrier},
                                                              {"checkpoint", &LimitPolicy::checkpoint}};
  if (!pairs) return false;
  LimitPolicy read = *policy;
  for (const auto& [name, limit] : *pairs) {
    const auto phase = phases.find(name);
    if (phase == phases.end()) return false;
    read.*phase->second = limit;
  }
  *policy = read;
  return true;
}

bool read_size_limits(const std::string& text, LimitPolicy* policy) {
  const auto pairs = pairs_in(text);
  if (!pairs) return false;
  std::vector<LimitPolicy::BySize> sizes;
  for (const auto& [name, limit] : *pairs) {
    size_t from = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, from);
    if (error != std::errc() || stop != end) return false;
    sizes.push_back({from, limit});
  }
  policy->sizes = sizes;
  return true;
}

}  // namespace trainer
