#include "harness/diagnose/model/numbered_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "harness/diagnose/model/made.h"
#include "harness/diagnose/model/words.h"

namespace rankfault {
namespace {

using BySize = std::map<uint64_t, std::vector<MadeGroup>>;

Instant newest_world(const Process& p) {
  Instant newest;
  for (const Call& c : p.calls)
    if (c.op() == RF_OP_INIT && c.traits().numbers_groups) newest = std::max(newest, c.entered);
  return newest;
}

// The world that the process is in now; null: none is on record.
const CommGroup* world_of(const Process& p) {
  const CommGroup* world = nullptr;
  for (const auto& [group, member] : p.seats)
    if (group->flags & RF_COMM_WORLD && !member->comm->destroyed) world = group;
  return world;
}

// By the id of the world and the number: each world numbers its own groups.
std::map<std::pair<uint64_t, int>, std::vector<MadeGroup>> groups_by_number(const JobView& job) {
  std::map<std::pair<uint64_t, int>, std::vector<MadeGroup>> groups;
  for (const auto& p : job.processes()) {
    if (p->helper() || job.rank(p->rank()) != p.get() || !made_op(*p, RF_OP_COMM_CREATE)) continue;
    const CommGroup* world = world_of(*p);
    if (!world) continue;
    const Instant since = newest_world(*p);
    for (const Call& c : p->calls)
      if (is_numbered_creation(c) && c.entered > since) groups[{world->id, c.tag()}].push_back({p.get(), &c});
  }
  return groups;
}

bool has_two_in_one_seat(const std::vector<MadeGroup>& made) {
  std::set<std::pair<int, const Process*>> seats;
  for (const MadeGroup& m : made) seats.insert({m.call->peer(), m.process});
  const auto same_seat = [](const auto& a, const auto& b) { return a.first == b.first; };
  return std::adjacent_find(seats.begin(), seats.end(), same_seat) != seats.end();
}

std::vector<MadeGroup> smaller_camp(const BySize& camps) {
  if (camps.size() != 2) return {};
  const std::vector<MadeGroup>&a = camps.begin()->second, &b = camps.rbegin()->second;
  return a.size() == b.size() ? std::vector<MadeGroup>{} : a.size() < b.size() ? a : b;
}

}  // namespace

bool is_numbered_creation(const Call& c) {
  return c.op() == RF_OP_COMM_CREATE && c.traits().numbers_groups && c.tag() > 0 && c.count() > 0;
}

std::string numbered_name(int number) { return fmt::format("group{}", number); }

std::optional<GroupDispute> first_dispute(const JobView& job) {
  for (auto& [key, made] : groups_by_number(job)) {
    BySize camps;
    for (const MadeGroup& m : made) camps[m.call->count()].push_back(m);
    if (camps.size() < 2 && !has_two_in_one_seat(made)) continue;
    std::stable_sort(made.begin(), made.end(), [](const MadeGroup& a, const MadeGroup& b) {
      return a.process->rank() < b.process->rank();
    });
    return GroupDispute{key.second, made, smaller_camp(camps)};
  }
  return std::nullopt;
}

namespace {

// Whether the text has this word, and not as the begin of "group12".
bool names(const std::string& text, const std::string& group) {
  for (size_t at = text.find(" " + group); at != std::string::npos; at = text.find(" " + group, at + 1)) {
    const size_t end = at + 1 + group.size();
    if (end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> lines_about_groups(const JobView& job, const std::string& text) {
  std::vector<std::string> lines;
  if (text.find(" group") == std::string::npos) return lines;
  for (const auto& [key, made] : groups_by_number(job)) {
    const std::string name = numbered_name(key.second), site = call_site_of(*made[0].process, *made[0].call);
    if (!site.empty() && names(text, name))
      lines.push_back(fmt::format("{} is made by new_group at {}", name, site));
  }
  return lines;
}

}  // namespace rankfault
