// Catalog: a self-registering table of entries that are found by name (faults, oracles, rules, commands,
// reports, launchers). One entry is one file with `static Registration<T> r{...}`, so a new file adds a new
// kind. Link such files as OBJECT libraries: a static library drops them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/assert.h"
#include "harness/base/suggest.h"

namespace rankfault {

// T has a member `name` (std::string or const char*). Entries live for the whole program.
template <typename T>
class Catalog {
 public:
  static Catalog& instance() {
    static Catalog catalog;
    return catalog;
  }

  void add(const T* entry) {
    RF_ASSERT(find(entry->name) == nullptr, "two catalogue entries share a name");
    entries_.push_back(entry);
    std::sort(entries_.begin(), entries_.end(),
              [](const T* a, const T* b) { return std::string_view(a->name) < std::string_view(b->name); });
  }
  const T* find(std::string_view name) const {
    for (const T* entry : entries_)
      if (name == entry->name) return entry;
    return nullptr;
  }
  const std::vector<const T*>& all() const { return entries_; }  // sorted by name

  // "(did you mean \"rank_kill\"?)", or "" if no name is near.
  std::string did_you_mean(std::string_view name) const {
    std::vector<std::string> names;
    for (const T* entry : entries_) names.emplace_back(entry->name);
    return rankfault::did_you_mean(name, names);
  }

 private:
  std::vector<const T*> entries_;
};

template <typename T>
struct Registration {
  explicit Registration(T value) : entry(std::move(value)) { Catalog<T>::instance().add(&entry); }
  T entry;
};

}  // namespace rankfault
