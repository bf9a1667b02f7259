// ring_test: damaged flight records: by a seeded mutator, as a crash, a full disk or a copy can damage them,
// and in arbitrary ways. The first must not prove anything that the whole record refutes. The reader must
// survive the second. RANKFAULT_FUZZ_ROUNDS asks for more.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "harness/agent/agent_abi.h"
#include "harness/diagnose/finding.h"
#include "harness/diagnose/model/view.h"
#include "harness/journal/journal.h"
#include "harness/observe/observer.h"
#include "harness/observe/record_names.h"
#include "tests/falsify/refute.h"
#include "tests/fuzz/ring_target.h"
#include "tests/support/synthetic_records.h"

namespace rankfault::testing {
namespace {

namespace fs = std::filesystem;

int rounds() {
  const char* asked = std::getenv("RANKFAULT_FUZZ_ROUNDS");
  return asked ? std::atoi(asked) : 40;
}

// The run directory of a small job with one defect.
class Job {
 public:
  explicit Job(const Trouble& trouble, int64_t skew_ns = 0) {
    char name[] = "/tmp/rf-ring.XXXXXX";
    folder_ = ::mkdtemp(name);
    SyntheticJob job;
    job.tensor = 2;
    job.pipeline = 2;
    job.data = 3;
    job.steps = 6;
    job.at_step = 5;
    job.clock_skew_ns = skew_ns;
    if (trouble.blames) job.culprits = {5};
    write_synthetic_records(folder_, job, trouble);
    auto journal = read_journal(folder_ + "/journal.ndjson");
    look_ = *lines_of<events::Look>(*journal).back().event;
  }
  ~Job() { fs::remove_all(folder_); }
  Job(const Job&) = delete;

  std::string records() const { return folder_ + "/records"; }
  std::string ring(size_t i) const { return records() + "/" + ring_names_in(records()).at(i); }
  size_t rings() const { return ring_names_in(records()).size(); }
  // At the look of the journal, and at the end. A run that cannot be read at all is also a valid result.
  std::vector<Timeline> timelines() const {
    std::vector<Timeline> all;
    if (auto t = timeline_from_run(folder_, look_)) all.push_back(std::move(*t));
    if (auto t = final_timeline(folder_, Histories::kInFiles)) all.push_back(std::move(*t));
    if (auto t = final_timeline(folder_)) all.push_back(std::move(*t));
    return all;
  }

 private:
  std::string folder_;
  events::Look look_;
};

// The bytes of one file. Restores them at the end.
class Bytes {
 public:
  explicit Bytes(std::string path) : path_(std::move(path)) {
    std::ifstream in(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(in), {});
    now = whole_;
  }
  ~Bytes() { write(whole_); }
  Bytes(const Bytes&) = delete;
  void write() { write(now); }
  std::string now;

 private:
  void write(const std::string& bytes) {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string path_, whole_;
};

template <typename T>
void put(std::string& bytes, size_t at, T value) {
  if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Damages a record as a crash, a full disk or an incomplete copy does.
void damage(std::string& bytes, std::mt19937& random) {
  const size_t lane = RF_OFF_LANES, history = RF_OFF_HISTORY;
  const uint64_t hostile[] = {0, 1, 0x7fffffff, 0xffffffff, ~uint64_t{0}, 1ull << 63};
  switch (random() % 8) {
    case 0:
      bytes.resize(random() % bytes.size());
      return;
    case 1:  // a hole
      for (size_t at = history + random() % 8 * 4096, end = at + 4096; at < end && at < bytes.size(); ++at)
        bytes[at] = 0;
      return;
    case 2:  // records that were claimed but never written
      for (int i = 0; i < 5; ++i)
        put<uint64_t>(bytes, history + random() % 100 * sizeof(rf_record), random() % 3);
      return;
    case 3:
      put<uint32_t>(bytes, offsetof(rf_header, abi_version), static_cast<uint32_t>(random()));
      return;
    case 4:
      put<uint64_t>(bytes, lane + offsetof(rf_lane, head), hostile[random() % 6]);
      return;
    case 5:
      put<uint32_t>(bytes, offsetof(rf_header, lanes_used), static_cast<uint32_t>(hostile[random() % 6]));
      put<uint32_t>(bytes, offsetof(rf_header, comms_used), static_cast<uint32_t>(hostile[random() % 6]));
      return;
    case 6:
      put<uint64_t>(bytes, lane + offsetof(rf_lane, mapped), 0);
      return;
    default:  // offsets and sizes of a communicator
      put<uint32_t>(bytes, RF_OFF_COMMS + sizeof(rf_comm) * (random() % 4) + offsetof(rf_comm, members),
                    static_cast<uint32_t>(hostile[random() % 6]));
      put<uint32_t>(bytes, RF_OFF_COMMS + sizeof(rf_comm) * (random() % 4) + offsetof(rf_comm, name),
                    static_cast<uint32_t>(hostile[random() % 6]));
  }
}

TEST(RingDamage, ProvesNothingThatTheWholeRecordRefutes) {
  std::mt19937 random(11);
  int proven = 0, read = 0;
  for (const Trouble& trouble : all_troubles()) {
    const Job job(trouble);
    const std::vector<Timeline> whole = job.timelines();
    ASSERT_EQ(whole.size(), 3u) << trouble.word;
    const JobView truth(whole.back());
    for (int round = 0; round < rounds(); ++round) {
      Bytes bytes(job.ring(random() % job.rings()));
      damage(bytes.now, random);
      bytes.write();
      for (const Timeline& t : job.timelines()) {
        ++read;
        for (const Finding& f : diagnose(t).all) {
          if (f.confidence != Confidence::kProven) continue;
          ++proven;
          EXPECT_EQ(refutation(truth, f), "") << trouble.word << " round " << round << "\n"
                                              << to_json(f).dump(1);
        }
      }
    }
  }
  EXPECT_GT(proven, rounds()) << "the damage breaks everything: nothing was tried";
  EXPECT_GT(read, rounds() * 13);
}

TEST(RingDamage, AnyBytesAreSurvived) {
  std::mt19937 random(12);
  const Job job(*trouble_named("dead_rank"));
  for (int round = 0; round < rounds() * 4; ++round) {
    Bytes bytes(job.ring(random() % job.rings()));
    for (uint32_t i = 0, n = 1 + random() % 40; i < n; ++i) {
      // Regions with content: header, the first lane, communicators, names, members, the first records.
      const size_t begins[] = {0, RF_OFF_LANES, RF_OFF_COMMS, RF_OFF_NAMES, RF_OFF_MEMBERS, RF_OFF_HISTORY};
      const size_t at = begins[random() % 6] + random() % 1200;
      const int kind = static_cast<int>(random() % 3);
      if (at < bytes.now.size())
        bytes.now[at] = kind == 0 ? '\xff' : kind == 1 ? '\0' : static_cast<char>(random());
    }
    bytes.write();
    for (const Timeline& t : job.timelines()) EXPECT_FALSE(diagnose(t).all.empty());
  }
}

// The blamed rank does not depend on which clock is right.
TEST(RingDamage, ClocksThatDisagreeBySecondsChangeNobodysBlame) {
  for (const Trouble& trouble : all_troubles()) {
    const Job same(trouble), skewed(trouble, 5'000'000'000), behind(trouble, -5'000'000'000);
    const Finding expected = diagnose(same.timelines().front()).all.front();
    for (const Job* job : {&skewed, &behind}) {
      const Finding found = diagnose(job->timelines().front()).all.front();
      EXPECT_EQ(found.ranks, expected.ranks) << trouble.word << ": " << found.text;
      EXPECT_EQ(found.confidence, expected.confidence) << trouble.word;
    }
  }
}

// Without damage only the culprit is named, wherever the histories are kept.
TEST(RingDamage, WithoutAnyTheCulpritIsNamed) {
  for (const Trouble& trouble : all_troubles()) {
    const Job job(trouble);
    const std::vector<Timeline> all = job.timelines();
    ASSERT_EQ(all.size(), 3u);
    const Finding first = diagnose(all.front()).all.front();
    EXPECT_EQ(first.ranks, trouble.blames ? std::vector<int>{5} : std::vector<int>{})
        << trouble.word << ": " << first.text;
    EXPECT_TRUE(all[1].processes.front().history.empty()) << "it is left in its file";
    EXPECT_FALSE(all[2].processes.front().history.empty());
    EXPECT_EQ(to_json(diagnose(all[1])).dump(), to_json(diagnose(all[2])).dump()) << trouble.word;
  }
}

// After an incomplete copy of a run, findings about the rest remain.
TEST(RingDamage, RecordsThatAreGoneTakeOnlyTheirOwnProofsAlong) {
  for (const Trouble& trouble : all_troubles()) {
    const Job job(trouble);
    const std::vector<int> blamed = diagnose(job.timelines().front()).all.front().ranks;
    fs::remove(job.ring(0));
    const std::vector<Timeline> left = job.timelines();
    ASSERT_EQ(left.size(), 3u) << trouble.word;
    for (const Timeline& t : left) {
      const Findings found = diagnose(t);
      if (trouble.word != std::string("wedged") && trouble.word != std::string("nothing")) {
        EXPECT_EQ(found.all.front().ranks, blamed) << trouble.word << ": " << found.all.front().text;
      }
      EXPECT_NE(found.all.front().kind, "none") << "a rank is not known";
    }
  }
}

// The target of the libFuzzer program, with patches from a seed.
TEST(RingDamage, AnyPatchesAreSurvived) {
  std::mt19937 random(17);
  int taken = 0, refused = 0;
  for (int round = 0; round < 25 * rounds(); ++round) {
    std::vector<uint8_t> input(random() % 64);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random() % 4 ? random() : random() % 8);
    (fuzz_ring(input.data(), input.size()) ? taken : refused) += 1;
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

TEST(RingDamage, LinksAreFollowedAndFifosAreNotWaitedFor) {
  const Job job(*trouble_named("dead_rank"));
  const std::string moved = job.ring(2), elsewhere = job.records() + "/kept-elsewhere";
  fs::rename(moved, elsewhere);
  fs::create_symlink(elsewhere, moved);
  ASSERT_EQ(job.timelines().size(), 3u);
  EXPECT_EQ(diagnose(job.timelines().front()).all.front().confidence, Confidence::kProven);
  fs::remove(moved);
  fs::create_symlink("nowhere", moved);
  ASSERT_EQ(job.timelines().size(), 1u) << "the look is told without it; the end names the file";
  fs::remove(moved);
  ASSERT_EQ(::mkfifo(moved.c_str(), 0600), 0);
  EXPECT_EQ(job.timelines().size(), 1u);
}

}  // namespace
}  // namespace rankfault::testing
