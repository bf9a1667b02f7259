// places_test: addresses of this test program and of libraries, as lines, functions and modules.
#include "harness/symbols/places.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rankfault {
namespace {

struct Called {
  uint64_t address;
  int line;
};

__attribute__((noinline)) uint64_t who_called() {
  return reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

__attribute__((noinline)) Called call_from_here() {
  const uint64_t address = who_called();
  return {address, __LINE__ - 1};
}

CodePlace place_of(uint64_t address, bool is_return_address) {
  MemoryMap map;
  EXPECT_TRUE(map.read(::getpid()));
  const Mapping* mapping = map.find(address);
  EXPECT_TRUE(mapping);
  Places places;
  return mapping ? places.at(*mapping, address, is_return_address) : CodePlace{};
}

TEST(Places, NamesTheLineOfACallByItsReturnAddress) {
  const Called called = call_from_here();
  const CodePlace place = place_of(called.address, true);
  EXPECT_EQ(place.line, fmt::format("places_test.cc:{}", called.line));
  EXPECT_EQ(place.source(), place.line);
  EXPECT_NE(place.function.find("call_from_here"), std::string::npos) << place.function;
}

TEST(Places, NamesFunctionsOfALibraryWithoutDebugInformation) {
  const CodePlace place = place_of(reinterpret_cast<uint64_t>(&::getppid), false);
  EXPECT_EQ(place.function, "getppid");
  EXPECT_NE(place.module.find("libc"), std::string::npos);
  EXPECT_EQ(place.text(), place.line.empty() ? "getppid+0x0" : place.line);
}

TEST(Places, NamesTheModuleWhereTheFileIsNoMore) {
  const Called called = call_from_here();
  MemoryMap map;
  ASSERT_TRUE(map.read(::getpid()));
  Mapping other = *map.find(called.address);
  other.inode += 1;  // another file has this path now
  Places places;
  const CodePlace place = places.at(other, called.address, true);
  EXPECT_EQ(place.source(), "");
  EXPECT_EQ(place.text(), fmt::format("symbols_test+0x{:x}", called.address - other.begin + other.offset));
}

TEST(Places, KnowsNothingOfWhatIsNoElfFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("rankfault-no-elf.{}", ::getpid())).string();
  std::ofstream(path) << "\x7f"
                      << "ELF and then nothing of the kind";
  EXPECT_EQ(ProgramFile::open("/dev/null", 0), nullptr);
  Mapping mapping{0x1000, 0x2000, 0, 0, 0, path};
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  mapping.inode = st.st_ino;
  Places places;
  EXPECT_EQ(places.at(mapping, 0x1010, true).source(), "");
  std::filesystem::remove(path);
}

TEST(Places, AnAddressOutsideOfAllFilesHasNoMapping) {
  MemoryMap map;
  ASSERT_TRUE(map.read(::getpid()));
  EXPECT_EQ(map.find(1), nullptr);
  const auto* on_the_stack = &map;
  EXPECT_EQ(map.find(reinterpret_cast<uint64_t>(on_the_stack)), nullptr);
  EXPECT_FALSE(MemoryMap().read(0));
}

TEST(ReadableFunction, LeavesOutReturnTypeAndParameters) {
  EXPECT_EQ(readable_function("MPI_Barrier"), "MPI_Barrier");
  EXPECT_EQ(readable_function("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"), "gloo::allreduce");
  EXPECT_EQ(readable_function("_ZN4c10d16ProcessGroupGloo9allreduceERSt6vectorIN2at6TensorESaIS3_EE"),
            "c10d::ProcessGroupGloo::allreduce");
  EXPECT_EQ(readable_function("_Z3addIiET_S0_S0_"), "add<int>");
}

}  // namespace
}  // namespace rankfault
