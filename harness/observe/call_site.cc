// call_site: see call_site.h.
#include "harness/observe/call_site.h"

namespace rankfault {
namespace {

constexpr size_t kMostSites = 1024;  // a program that calls from more places than that is generated code

}  // namespace

bool CallSites::add(uint64_t address, Places& places) {
  if (address == 0 || sites_.count(address) || sites_.size() >= kMostSites) return true;
  if (nowhere_.count(address) || nowhere_.size() >= kMostSites) return true;
  const Mapping* mapping = map_.find(address);
  if (!mapping) return false;
  const Place place = places.at(*mapping, address, true);
  sites_[address] = place.in_module();
  if (const std::string source = place.source(); !source.empty()) lines_[address] = source;
  return true;
}

void CallSites::is_nowhere(uint64_t address) { nowhere_.insert(address); }

}  // namespace rankfault
