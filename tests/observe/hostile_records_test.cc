// hostile_records_test: records that a rank cuts or removes while they are read, and more records than a
// process may have files open.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "harness/base/cut_files.h"
#include "harness/diagnose/finding.h"
#include "harness/observe/observer.h"
#include "tests/observe/ring_file_writer.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

class HostileRecords : public ::testing::Test {
 protected:
  HostileRecords() { std::filesystem::create_directory(records_); }
  static ProcessId process(int n) { return {7, 8, 900'000'000 + n, 11, 0}; }  // this pid does not exist
  std::unique_ptr<RingFileWriter> member(int rank, int world) {
    auto w = std::make_unique<RingFileWriter>(records_, process(rank), rank, world, 1);
    w->add_comm(99, "world", world, rank);
    w->enter(0, RF_OP_ALL_REDUCE);
    w->leave(0);
    return w;
  }
  // A program that a rank executes: only a header.
  std::string candidate(int n, int rank, uint64_t opened_ns) {
    rf_header header{};
    header.abi_version = RF_ABI_VERSION;
    header.header_bytes = RF_HEADER_BYTES;
    const ProcessId id = process(n);
    header.host_id = id.host;
    header.pid_ns = id.pid_ns;
    header.pid = id.pid;
    header.start_time = id.start;
    header.opened_ns = opened_ns;
    header.rank = rank;
    header.world_size = 2;
    header.stage = RF_STAGE_CANDIDATE;
    header.magic = RF_RING_MAGIC;
    return write(id, header);
  }
  std::string write(const ProcessId& id, const rf_header& header) {
    const std::string path = records_ + "/" + id.to_string() + ".ring";
    std::string bytes(RF_HEADER_BYTES, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  void exited_by_itself(const std::string& path, int status) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](size_t at, auto value) {
      file.seekp(static_cast<std::streamoff>(at));
      file.write(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(offsetof(rf_header, own_exit), uint32_t{RF_EXIT_ON_EXIT});
    put(offsetof(rf_header, own_exit_status), int32_t{status});
    put(offsetof(rf_header, own_exit_ns), uint64_t{2'000'000'000});
  }
  static RankEnd end_of(const ProcessId& id, int status) {
    RankEnd end;
    end.process = id;
    end.time = Instant(3s);
    end.status = {ExitStatus::Kind::kCode, status};
    return end;
  }
  size_t rings() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(records_)) ++n;
    return n;
  }
  static size_t open_files() {
    size_t n = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
    return n;
  }
  test::Scratch run_;
  const std::string records_ = run_.file("records");
};

TEST_F(HostileRecords, ARecordThatIsCutIsPartialAndTheOthersAreRead) {
  auto a = member(0, 2), b = member(1, 2);
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->scan();
  ASSERT_EQ(observer->look(false).processes.at(0).partial, 0u);
  for (const size_t bytes : {size_t{RF_OFF_COMMS}, size_t{5000}, size_t{0}}) {
    std::filesystem::resize_file(a->path(), bytes);
    observer->drain();
    observer->activity();
    const Timeline t = observer->look(false);
    ASSERT_EQ(t.processes.size(), 2u) << bytes;
    EXPECT_NE(t.processes[0].partial, 0u) << bytes;
    EXPECT_EQ(t.processes[0].rank, 0) << bytes;
    EXPECT_EQ(t.processes[1].partial, 0u) << bytes;
    EXPECT_EQ(t.processes[1].comms.at(0).entered, 1u) << bytes;
    EXPECT_FALSE(diagnose(t).all.empty());
  }
  observer->scan();
}

// The size does not show it, as after an error of a disk or of a file server.
TEST_F(HostileRecords, ARecordThatCouldNotBeReadOnceIsPartial) {
  auto a = member(0, 2), b = member(1, 2);
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->scan();
  ASSERT_EQ(observer->look(false).processes.at(0).partial, 0u);
  const auto size = std::filesystem::file_size(a->path());
  std::filesystem::resize_file(a->path(), RF_HEADER_BYTES);
  observer->activity();
  std::filesystem::resize_file(a->path(), size);
  const Timeline t = observer->look(false);
  EXPECT_NE(t.processes.at(0).partial, 0u);
  EXPECT_EQ(t.processes.at(1).partial, 0u);
}

TEST_F(HostileRecords, ALibraryOfTheToolThatCannotBeReadEndsItAsEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // before the handler knows the libraries
  const std::string library = run_.file("copy.so");
  Dl_info libm;
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(static_cast<double (*)(double)>(std::lgamma)), &libm), 0);
  std::filesystem::copy_file(std::filesystem::canonical(libm.dli_fname), library);
  EXPECT_EXIT(
      {
        void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        const auto* text = static_cast<const volatile char*>(::dlsym(handle, "lgamma"));
        const int file = ::open(library.c_str(), O_RDWR);
        std::filesystem::remove_all(run_.path());  // this process ends without the destructor
        survive_cut_files();
        if (::ftruncate(file, 0) != 0) ::_exit(2);
        ::_exit(text ? *text : 1);
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(HostileRecords, ARecordThatIsRemovedIsReadOn) {
  auto a = member(0, 1);
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->scan();
  std::filesystem::remove(a->path());
  a->enter(0, RF_OP_BARRIER);
  observer->scan();
  EXPECT_EQ(observer->look(false).processes.at(0).comms.at(0).entered, 2u);
}

TEST_F(HostileRecords, NoDescriptorStaysOpenForARecord) {
  std::vector<std::unique_ptr<RingFileWriter>> ranks;
  for (int r = 0; r < 40; ++r) ranks.push_back(member(r, 40));
  const size_t before = open_files();
  const auto observer = make_observer({records_}, Instant(1ns));
  observer->scan();
  EXPECT_EQ(observer->look(false).processes.size(), 40u);
  EXPECT_EQ(open_files(), before);
}

TEST_F(HostileRecords, WithoutADescriptorARecordIsReadLater) {
  auto a = member(0, 1);
  const auto observer = make_observer({records_}, Instant(1ns));
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  rlimit none = old;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_TRUE(observer->scan().empty());
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_EQ(observer->scan().size(), 1u);
}

TEST_F(HostileRecords, ProgramsThatARankExecutesAreForgotten) {
  auto rank = member(0, 1);
  const auto observer = make_observer({records_}, Instant(1ns));
  EXPECT_EQ(observer->scan().size(), 1u);
  const uint64_t activity = observer->activity();
  for (int n = 1; n <= 50; ++n) {
    const std::string path = candidate(n, 0, 2'000'000 + static_cast<uint64_t>(n));
    if (n % 2) exited_by_itself(path, 0);
  }
  EXPECT_EQ(observer->scan().size(), 25u) << "those that were over are not even reported";
  EXPECT_EQ(observer->take_forgotten().size(), 25u);
  EXPECT_EQ(rings(), 26u);
  EXPECT_TRUE(observer->is_bystander(process(2)));
  for (int n = 2; n <= 50; n += 2) observer->set_end(end_of(process(n), 1));
  EXPECT_EQ(observer->look(false).processes.size(), 1u) << "they say nothing of the rank";
  observer->scan();
  EXPECT_EQ(observer->take_forgotten().size(), 25u);
  EXPECT_EQ(rings(), 1u);
  EXPECT_EQ(observer->activity(), activity) << "the job did not move";
}

TEST_F(HostileRecords, ARankThatDiesBeforeItsFirstCallIsShown) {
  auto other = member(1, 2);
  const auto observer = make_observer({records_}, Instant(1ns));
  exited_by_itself(candidate(2, 0, 5'000'000), 1);
  EXPECT_EQ(observer->scan().size(), 2u);
  observer->set_end(end_of(process(2), 1));
  observer->scan();
  EXPECT_TRUE(observer->take_forgotten().empty());
  const Timeline t = observer->look(false);
  ASSERT_EQ(t.processes.size(), 2u);
  EXPECT_EQ(t.processes[0].end.value, 1);
}

}  // namespace
}  // namespace rankfault::testing
