#include "harness/observe/call_site.h"

namespace rankfault {
namespace {

constexpr size_t kMostSites = 1024;   // a program that calls from more places than that is generated code
constexpr size_t kMostStacks = 8192;  // as many as the agent keeps

}  // namespace

bool CallSites::add(uint64_t address, Places& places) {
  const size_t most = is_python_stack(address) ? kMostStacks : kMostSites;
  if (address == 0 || sites_.count(address) || sites_.size() >= most) return true;
  if (nowhere_.count(address) || nowhere_.size() >= kMostSites) return true;
  if (is_python_stack(address)) {
    add_python(address);
    return true;
  }
  const Mapping* mapping = map_.find(address);
  if (!mapping) return false;
  const CodePlace place = places.at(*mapping, address, true);
  sites_[address] = place.in_module();
  if (const std::string source = place.source(); !source.empty()) lines_[address] = source;
  return true;
}

void CallSites::add_python(uint64_t where) {
  const auto frames = python_.of(where);
  if (!frames) {
    nowhere_.insert(where);
    return;
  }
  sites_[where] = python_place(*frames);
  lines_[where] = python_text(*frames);
}

void CallSites::is_nowhere(uint64_t address) { nowhere_.insert(address); }

}  // namespace rankfault
