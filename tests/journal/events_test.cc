// events_test: every kind of journal line is read back as it was written, and is documented.
#include <gmock/gmock.h>

#include <set>

#include "harness/journal/journal_line.h"

namespace rankfault::test {
namespace {

template <typename... Events>
std::vector<AnyEvent> one_of_each(std::variant<std::monostate, Events...>*) {
  return {Events{}...};
}
std::vector<AnyEvent> one_of_each() { return one_of_each(static_cast<AnyEvent*>(nullptr)); }

JournalLine read_back(const JournalLine& line) {
  const Result<JournalLine> read = journal_line(Json::parse(to_json(line).dump()));
  EXPECT_TRUE(read.ok()) << to_json(line);
  return read.ok() ? *read : JournalLine{};
}

// Values that differ from each other and from every default.
class Filler {
 public:
  void fill(bool& to) { to = true; }
  void fill(std::string& to) { to = "text " + std::to_string(++last_); }
  void fill(ProcessId& to) { to = {++last_, 2, 3, 4, 5}; }
  void fill(Json& to) { to = {{"key", ++last_}}; }
  template <typename T>
  requires std::is_arithmetic_v<T>
  void fill(T& to) { to = static_cast<T>(++last_); }
  void fill(Instant& to) { to = instant_of(++last_); }
  void fill(Duration& to) { to = duration_of(++last_); }
  template <typename T>
  void fill(std::optional<T>& to) {
    fill(to.emplace());
  }
  template <typename T>
  void fill(std::vector<T>& to) {
    fill(to.emplace_back());
  }
  template <HasKeys T>
  void fill(T& to) {
    T::keys([&](const char*, auto member, const char* = "") { fill(to.*member); });
  }

 private:
  uint64_t last_ = 100;
};

AnyEvent filled(AnyEvent event) {
  std::visit(
      [](auto& one) {
        if constexpr (HasKeys<std::remove_reference_t<decltype(one)>>) Filler().fill(one);
      },
      event);
  return event;
}

// A key that has the member of another key would hold that member's value.
TEST(Events, HaveAMemberOfItsOwnForEachKey) {
  for (const AnyEvent& event : one_of_each()) {
    std::set<std::string> values;
    const Json line = to_json({1, instant_of(2), filled(event)});
    for (const auto& [key, value] : line.items()) {
      const bool is_new = values.insert(value.dump()).second;
      EXPECT_TRUE(is_new || value.is_boolean()) << key << " " << value;
    }
  }
}

TEST(Events, AreReadBackAsTheyWereWritten) {
  for (const AnyEvent& empty : one_of_each()) {
    const AnyEvent event = filled(empty);
    const JournalLine line{7, instant_of(8), event};
    const JournalLine again = read_back(line);
    EXPECT_EQ(again.event.index(), event.index());
    EXPECT_EQ(to_json(again), to_json(line));
  }
}

TEST(Events, KeepWhatTheirOptionalKeysHold) {
  events::FaultEffect effect;
  effect.fault = "kill";
  effect.process = ProcessId{1, 2, 3, 4, 5};
  effect.what = "file_harmed";
  effect.path = "/dev/shm/x";
  effect.inode = ~uint64_t{0};
  const Json json = to_json(read_back({1, instant_of(2), effect}));
  EXPECT_EQ(
      json.dump(),
      R"({"n":1,"t":2,"ev":"fault_effect","fault":"kill","action":0,"process":"0000000000000001.2.3.4.5",)"
      R"("what":"file_harmed","path":"/dev/shm/x","inode":18446744073709551615})");
}

TEST(Events, ReadADamagedTimeAsTheLatest) {
  const Json json = {{"n", 1}, {"t", ~uint64_t{0}}, {"ev", "rank_end"}, {"time", uint64_t{1} << 63}};
  const Result<JournalLine> line = journal_line(Json::parse(json.dump()));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->t, Instant(kLongestDuration));
  EXPECT_EQ(line->as<events::RankEnd>()->time, line->t);
}

TEST(Events, HoldLists) {
  events::Process process;
  process.coverage.push_back({"mpi", "preload", "openmpi", 4, "found"});
  const JournalLine again = read_back({1, instant_of(2), process});
  ASSERT_EQ(again.as<events::Process>()->coverage.size(), 1u);
  EXPECT_EQ(again.as<events::Process>()->coverage[0].version, 4u);
  EXPECT_EQ(again.as<events::Process>()->coverage[0].reason, "found");
}

TEST(Events, HaveNamesAndKeysThatOccurOnce) {
  std::set<std::string> names;
  for (const EventPage& page : all_events()) {
    EXPECT_TRUE(names.insert(page.doc.name).second) << page.doc.name;
    EXPECT_STRNE(page.doc.written, "");
    std::set<std::string> keys{"n", "t", "ev"};
    for (const EventKey& key : page.keys) EXPECT_TRUE(keys.insert(key.name).second) << key.name;
  }
  EXPECT_EQ(names.size(), std::variant_size_v<AnyEvent> - 1);
}

}  // namespace
}  // namespace rankfault::test
