// read_dumps_test: which files of a folder are dumps, and what the reader reports about the others.
#include "harness/flight_recorder/read_dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "harness/flight_recorder/dump_names.h"
#include "harness/flight_recorder/write_dump.h"
#include "samples.h"
#include "tests/support/tool.h"

namespace rankfault::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Kind = FrEvidence::Kind;

class ReadDumps : public ::testing::Test {
 protected:
  std::string pickle(int64_t rank = 0) { return dump_to_pickle(sample_dump(rank)); }
  FrDumps read() {
    Result<FrDumps> all = read_dumps({folder_.path()});
    EXPECT_TRUE(all.ok()) << all.error().message;
    return all ? std::move(*all) : FrDumps{};
  }
  // The reports, without the folder.
  std::vector<std::string> said(const FrDumps& all) {
    std::vector<std::string> lines;
    for (const FrEvidence& e : all.evidence) lines.push_back(e.to_string().substr(folder_.path().size() + 1));
    return lines;
  }
  std::vector<int64_t> ranks(const FrDumps& all) {
    std::vector<int64_t> out;
    for (const FrDump& dump : all.dumps) out.push_back(dump.rank);
    return out;
  }
  test::Scratch folder_;
};

TEST(DumpNames, TheRankIsTheDigitsAtTheEnd) {
  EXPECT_EQ(parse_dump_name("_dump_3").rank, 3);
  EXPECT_EQ(parse_dump_name("nccl_trace_rank_12").rank, 12);
  EXPECT_EQ(parse_dump_name("comm_lib_trace_rank_3.pkl.gz").rank, 3);
  EXPECT_EQ(parse_dump_name("x7.json").rank, 7);
  EXPECT_EQ(parse_dump_name("0.pickle").rank, 0);
  EXPECT_EQ(parse_dump_name("train.log").rank, -1);
  EXPECT_EQ(parse_dump_name("20261121162850").rank, -1) << "a date";
  EXPECT_EQ(parse_dump_name("").rank, -1);
}

TEST(DumpNames, TheHostIsWhatStandsBeforeTheRank) {
  EXPECT_EQ(parse_dump_name("host7.example_rank_3").host, "host7.example");
  EXPECT_EQ(parse_dump_name("host7.example_nccl_trace_rank_3").host, "host7.example");
  EXPECT_EQ(parse_dump_name("nccl_trace_rank_3").host, "");
  EXPECT_EQ(parse_dump_name("comm_lib_trace_rank_3").host, "");
  EXPECT_EQ(parse_dump_name("_dump_3").host, "");
  EXPECT_EQ(parse_dump_name("job5_dump_3").host, "");
}

TEST_F(ReadDumps, TakesEveryFormByItsContent) {
  folder_.write("_dump_10", pickle());
  folder_.write("_dump_2", dump_to_json(sample_dump()));
  folder_.write("a_3.json", pickle());
  folder_.write("a_4.pkl.gz", gzipped(pickle()));
  folder_.write("a_5", gzipped(dump_to_json(sample_dump())));
  folder_.write("host7.example_rank_6.gz", pickle());
  const FrDumps all = read();
  EXPECT_THAT(ranks(all), ElementsAre(2, 3, 4, 5, 6, 10));
  EXPECT_THAT(said(all), ElementsAre());
  EXPECT_EQ(all.dumps[4].host, "host7.example");
  EXPECT_EQ(all.dumps[5].path, folder_.file("_dump_10"));
  for (const FrDump& dump : all.dumps) expect_equal(dump, sample_dump(), dump.format == FrFormat::kPickle);
}

TEST_F(ReadDumps, LeavesOutWhatIsNoDumpAndSaysWhy) {
  folder_.write("_dump_0", pickle());
  folder_.write("fault_injection.log", "Fault ranks: [9, 14]\n");
  folder_.write(".hidden_1", pickle());
  folder_.write("notes.txt", "");
  std::filesystem::create_directory(folder_.file("sub_2"));
  ASSERT_EQ(::mkfifo(folder_.file("fifo_3").c_str(), 0600), 0);
  const FrDumps all = read();
  EXPECT_THAT(ranks(all), ElementsAre(0));
  EXPECT_THAT(said(all), UnorderedElementsAre("fault_injection.log: neither a pickle nor JSON",
                                              ".hidden_1: a hidden file", "notes.txt: an empty file",
                                              "sub_2: a folder", "fifo_3: a fifo"));
  for (const FrEvidence& e : all.evidence) EXPECT_EQ(e.kind, Kind::kLeftOut);
}

TEST_F(ReadDumps, ABrokenDumpIsEvidenceOfItsRank) {
  folder_.write("_dump_3", "");
  folder_.write("_dump_4", pickle().substr(0, 100));
  folder_.write("_dump_5", "cos\nsystem\n(S'id'\ntR.");
  folder_.write("_dump_6",
                "\x80\x02"
                "cos\nsystem\n.");
  folder_.write("_dump_7", gzipped(pickle()).substr(0, 200));
  folder_.write("_dump_8", std::string(500, '\0'));
  folder_.write("_dump_9.json", "{\"version\": ");
  const FrDumps all = read();
  EXPECT_TRUE(all.dumps.empty());
  EXPECT_THAT(said(all),
              UnorderedElementsAre("_dump_3: rank 3: dump is empty", "_dump_4: rank 4: ends at byte 100",
                                   "_dump_5: rank 5: neither a pickle nor JSON",
                                   HasSubstr("_dump_6: rank 6: byte 2: GLOBAL"),
                                   HasSubstr("_dump_7: rank 7: gzip: ends in the middle"),
                                   "_dump_8: rank 8: neither a pickle nor JSON",
                                   HasSubstr("_dump_9.json: rank 9: ends at byte")));
  for (const FrEvidence& e : all.evidence) {
    EXPECT_EQ(e.kind, Kind::kUnreadable);
    EXPECT_GE(e.rank, 3);
  }
}

TEST_F(ReadDumps, TwoFilesOfOneRankAreReported) {
  folder_.write("a_1", pickle());
  folder_.write("b_1", pickle());
  folder_.write("trace", pickle());
  const FrDumps all = read();
  EXPECT_THAT(ranks(all), ElementsAre(-1, 1, 1));
  EXPECT_THAT(said(all), UnorderedElementsAre(HasSubstr("has the same rank"),
                                              "trace: a dump without a rank in its name"));
}

TEST_F(ReadDumps, LinksAreFollowedOnlyInsideTheFolder) {
  const test::Scratch outside;
  outside.write("secret_5", pickle());
  folder_.write("_dump_1", pickle());
  std::filesystem::create_directory(folder_.file("data"));
  folder_.write("data/two", pickle());
  std::filesystem::create_symlink(outside.file("secret_5"), folder_.file("_dump_5"));
  std::filesystem::create_symlink(
      "../" + std::filesystem::path(outside.path()).filename().string() + "/secret_5",
      folder_.file("_dump_6"));
  std::filesystem::create_symlink("data/two", folder_.file("_dump_2"));
  std::filesystem::create_symlink("_dump_1", folder_.file("_dump_7"));
  std::filesystem::create_symlink("/dev/zero", folder_.file("_dump_8"));
  const FrDumps all = read();
  EXPECT_THAT(ranks(all), ElementsAre(1, 2));
  EXPECT_THAT(said(all), Contains("_dump_5: a symbolic link out of the folder"));
  EXPECT_THAT(said(all), Contains("_dump_6: a symbolic link out of the folder"));
  EXPECT_THAT(said(all), Contains("_dump_8: a symbolic link out of the folder"));
  EXPECT_THAT(said(all), Contains(HasSubstr("_dump_7: the same file as")));
}

TEST_F(ReadDumps, TakesFilesByName) {
  folder_.write("_dump_1", pickle());
  std::filesystem::create_symlink("_dump_1", folder_.file("link_2"));
  Result<FrDumps> all = read_dumps({folder_.file("link_2")});
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(ranks(*all), ElementsAre(2)) << "the user named the link";
  EXPECT_FALSE(read_dumps({folder_.file("none")}).ok());
  all = read_dumps({"/dev/null"});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->evidence.at(0).what, "a device");
}

TEST_F(ReadDumps, ABombIsRefusedWhileItUnpacks) {
  const std::string zeros = std::string("\x80\x02", 2) + "](" + std::string(80'000'000, 'N');
  folder_.write("_dump_1.gz", gzipped(zeros));
  const FrDumps all = read();
  EXPECT_THAT(said(all), ElementsAre(HasSubstr("unpack to more than")));
}

TEST_F(ReadDumps, GzipMembersOneBehindTheOtherAreOneFile) {
  const std::string bytes = pickle();
  folder_.write("_dump_1.gz", gzipped(bytes.substr(0, 100)) + gzipped(bytes.substr(100)));
  const FrDumps all = read();
  ASSERT_EQ(all.dumps.size(), 1u);
  expect_equal(all.dumps[0], sample_dump());
}

TEST_F(ReadDumps, GzipDamagedAnywhereNeverCrashes) {
  const std::string packed = gzipped(pickle());
  for (size_t i = 0; i < packed.size(); i += 3) {
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    FrLimits limits;
    Result<std::unique_ptr<ByteSource>> source = unpacked(memory_source(damaged), limits);
    if (source) (void)read_pickle(**source, limits);
  }
}

TEST_F(ReadDumps, TheSideFileSpeaksForItsDump) {
  FrDump dump = sample_dump(4);
  dump.side = FrSide{4, "node3", -250, 40, 17};
  ASSERT_TRUE(write_dump(folder_.path(), "_dump_", dump).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_.file("4.rankfault.json")));
  folder_.write("trace", pickle());
  folder_.write("trace.rankfault.json", R"({"version":1,"rank":9,"host":"node9"})");
  folder_.write("_dump_5", pickle());
  folder_.write("5.rankfault.json", "[]");
  const FrDumps all = read();
  EXPECT_THAT(ranks(all), ElementsAre(9, 4, 5));
  EXPECT_EQ(all.dumps[1].hostname, "node3");
  ASSERT_TRUE(all.dumps[1].side.has_value());
  EXPECT_EQ(all.dumps[1].side->clock_offset_ns, -250);
  EXPECT_EQ(all.dumps[1].side->clock_error_ns, 40);
  EXPECT_EQ(all.dumps[1].side->dropped, 17);
  EXPECT_FALSE(all.dumps[2].side.has_value());
  EXPECT_THAT(all.dumps[2].notes, ElementsAre(HasSubstr("not a JSON object")));
}

}  // namespace
}  // namespace rankfault::testing
