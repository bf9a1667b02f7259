// RunKey: the secret of a run and its file. Packer and Unpacker: payloads that lie.
#include "harness/nodes/run_key.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "harness/nodes/wire.h"

namespace rankfault::test {
namespace {

using ::testing::HasSubstr;

class RunKeyFile : public ::testing::Test {
 protected:
  RunKeyFile() : folder_(::testing::TempDir() + "run-key-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/key";
  }
  ~RunKeyFile() override { std::filesystem::remove_all(folder_); }

  std::string refusal() const {
    const Result<RunKey> read = RunKey::read(path_);
    return read ? "" : read.error().message;
  }

  std::string folder_, path_;
};

TEST(RunKey, IsOtherEachTime) {
  EXPECT_FALSE(RunKey::fresh() == RunKey::fresh());
  EXPECT_EQ(RunKey::fresh().hex().size(), 64u);
}

TEST(RunKey, IsReadFromItsDigitsAlone) {
  const RunKey key = RunKey::fresh();
  EXPECT_EQ(RunKey::from_hex(key.hex()), key);
  EXPECT_EQ(RunKey::from_hex(""), std::nullopt);
  EXPECT_EQ(RunKey::from_hex(key.hex() + "0"), std::nullopt);
  EXPECT_EQ(RunKey::from_hex(key.hex().substr(1)), std::nullopt);
  EXPECT_EQ(RunKey::from_hex("g" + key.hex().substr(1)), std::nullopt);
  EXPECT_EQ(RunKey::from_hex("+1" + key.hex().substr(2)), std::nullopt);
}

TEST_F(RunKeyFile, IsForItsUserAlone) {
  const RunKey key = RunKey::fresh();
  const mode_t before = ::umask(0);
  EXPECT_TRUE(key.write(path_).ok());
  ::umask(before);
  struct stat st {};
  ASSERT_EQ(::stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
  const Result<RunKey> read = RunKey::read(path_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, key);
}

TEST_F(RunKeyFile, IsNeverWrittenOver) {
  const RunKey key = RunKey::fresh();
  ASSERT_TRUE(key.write(path_).ok());
  EXPECT_FALSE(RunKey::fresh().write(path_).ok());
  EXPECT_EQ(*RunKey::read(path_), key);
}

TEST_F(RunKeyFile, IsRefusedWhenOthersMayReadIt) {
  ASSERT_TRUE(RunKey::fresh().write(path_).ok());
  for (const mode_t mode : {0644, 0640, 0604, 0620}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_THAT(refusal(), HasSubstr("run chmod 600")) << mode;
  }
}

TEST_F(RunKeyFile, IsRefusedWhenAnotherUserOwnsIt) {
  ASSERT_TRUE(RunKey::fresh().write(path_).ok());
  // Only root makes a file that belongs to another user.
  if (::chown(path_.c_str(), 12345, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "no right to give a file to another user";
  EXPECT_THAT(refusal(), HasSubstr("it belongs to user 12345"));
}

TEST_F(RunKeyFile, IsARegularFileWithDigits) {
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file")) << "and does not wait for a writer";
  std::filesystem::remove(path_);
  ASSERT_TRUE(RunKey::fresh().write(folder_ + "/other").ok());
  std::filesystem::create_symlink(folder_ + "/other", path_);
  EXPECT_THAT(refusal(), HasSubstr("symbolic link"));
  std::filesystem::remove(path_);
  std::ofstream(path_) << std::string(64, 'x') << "\n";
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("64 hexadecimal digits"));
}

TEST(Unpacker, ReadsWhatWasPacked) {
  const Packer packed = Packer().u8(255).u16(65535).u32(4'000'000'000).u64(UINT64_MAX).i64(-5).text("a\0b");
  Unpacker in(packed.payload());
  EXPECT_EQ(in.u8(), 255);
  EXPECT_EQ(in.u16(), 65535);
  EXPECT_EQ(in.u32(), 4'000'000'000);
  EXPECT_EQ(in.u64(), UINT64_MAX);
  EXPECT_EQ(in.i64(), -5);
  EXPECT_EQ(in.text(), "a");
  EXPECT_TRUE(in.done().ok());
}

TEST(Unpacker, IsLittleEndian) { EXPECT_EQ(Packer().u32(0x01020304).payload(), "\x04\x03\x02\x01"); }

TEST(Unpacker, EveryCutIsAnError) {
  const Packer packed = Packer().u32(7).text("words").u64(1);
  for (size_t cut = 0; cut < packed.payload().size(); ++cut) {
    Unpacker in(std::string_view(packed.payload()).substr(0, cut));
    in.u32();
    in.text();
    in.u64();
    EXPECT_FALSE(in.done().ok()) << cut;
    EXPECT_EQ(in.u64(), 0u) << "all reads after it give 0";
  }
}

TEST(Unpacker, BytesThatAreLeftAreAnError) {
  const Packer packed = Packer().u8(1).u8(2);
  Unpacker in(packed.payload());
  in.u8();
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.done().ok());
}

TEST(Unpacker, ANumberOfItemsThatCannotFollowIsAnError) {
  const Packer packed = Packer().u32(3).u64(1).u64(2);
  Unpacker in(packed.payload());
  EXPECT_EQ(in.count(8), 0u);
  EXPECT_FALSE(in.done().ok());
  Unpacker other(packed.payload());
  EXPECT_EQ(other.count(5), 3u);
}

TEST(Unpacker, AnyBytesAreReadWithinTheirBounds) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    Unpacker in(bytes);
    while (in.ok()) switch (random() % 4) {
        case 0:
          in.u8();
          break;
        case 1:
          in.text();
          break;
        case 2:
          in.count(random() % 9);
          break;
        default:
          in.i64();
      }
    EXPECT_FALSE(in.done().ok());
  }
}

}  // namespace
}  // namespace rankfault::test
