// torch_version_test: which versions of PyTorch the decoder serves, and that it touches no other.
#include "harness/backends/gloo/torch_version.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <map>
#include <regex>

#include "harness/agent/torch_versions.h"
#include "harness/backends/gloo/torch_gloo.h"

namespace rankfault::gloo_decoder {
namespace {

// A PyTorch that has every function, and what a test takes from it.
struct FakeTorch {
  std::map<std::string, std::string> options;
  bool old_abi = false;
  alignas(8) unsigned char undefined_tensor[192] = {};
} fake;

const std::map<std::string, std::string>& options_of_fake() { return fake.options; }

void* resolve(const char* symbol) {
  const std::string_view name = symbol;
  if (name.find("GetBuildOptions") != name.npos)
    return (name.find("cxx11") == name.npos) == fake.old_abi ? reinterpret_cast<void*>(&options_of_fake)
                                                             : nullptr;
  return fake.undefined_tensor;  // of the other names any address serves: nothing is called
}

class TorchVersion : public testing::Test {
 protected:
  void SetUp() override {
    fake = {};
    fake.undefined_tensor[176] = 18;  // its type
  }
  void TearDown() override { torch = before_, torch_function = functions_; }
  // The reason why a PyTorch of this version is not served, or "".
  static std::string refusal(const std::string& version) {
    fake.options["TORCH_VERSION"] = version;
    rf_core_v1 table{};
    table.resolve = resolve;
    const char* reason = "";
    return find_torch(&table, &reason) ? "" : reason;
  }
  const FoundTorch before_ = torch;
  const TorchFunctions functions_ = torch_function;
};

TEST_F(TorchVersion, AKnownOneHasItsOffsets) {
  EXPECT_EQ(refusal("1.13.0"), "");
  EXPECT_EQ(torch.offsets->prefix_of_prefix_store, 32);
  EXPECT_EQ(torch.version, 11300u);
  EXPECT_EQ(refusal("2.13.0"), "");
  EXPECT_EQ(torch.offsets->prefix_of_prefix_store, 24);
}

TEST(TorchVersionText, IsReadAsAWhole) {
  EXPECT_EQ(rf_torch_version("2.13.0+cpu"), 21300u);
  EXPECT_EQ(rf_torch_version("2.4"), 20400u);
  EXPECT_EQ(rf_torch_version("1.13.0a0+gitunknown"), 11300u);  // Debian's
  for (const char* text : {"", "2", "2.", "2.100.0", "2.13.0.dev20260101+cpu", "2.13.0rc1", "none"})
    EXPECT_EQ(rf_torch_version(text), 0u) << text;
}

TEST_F(TorchVersion, AnotherOneIsRefusedByName) {
  EXPECT_EQ(refusal("1.12.1"), "PyTorch 1.12 is not known");
  EXPECT_EQ(refusal("2.3.1"), "PyTorch 2.3 is not known");
  EXPECT_EQ(refusal("2.99.0"), "PyTorch 2.99 is not known");
  EXPECT_EQ(refusal("main"), "PyTorch without a version");
  fake.old_abi = true;
  EXPECT_EQ(refusal("2.4.1"), "PyTorch of the older C++ ABI");
}

TEST_F(TorchVersion, ATensorOfAnotherShapeIsNotRead) {
  fake.undefined_tensor[176] = 17;
  EXPECT_EQ(refusal("1.13.1"), "PyTorch 1.13 of another build");
  EXPECT_EQ(refusal("2.13.0"), "") << "it is asked by functions";
}

TEST_F(TorchVersion, SizeAndTypeOfATensorOf1AreRead) {
  ASSERT_EQ(refusal("1.13.1"), "");
  const int64_t elements = 1348;
  memcpy(fake.undefined_tensor + 168, &elements, sizeof elements);
  fake.undefined_tensor[176] = 6;
  const void* tensor = fake.undefined_tensor;
  int64_t n = 0;
  int32_t type = 0;
  EXPECT_EQ(torch_function.numel(&tensor, &n) + torch_function.dtype(&tensor, &type), 0);
  EXPECT_EQ(n, elements);
  EXPECT_EQ(layout::dtype_of_scalar_type(type), RF_DTYPE_FLOAT32);
}

#if defined(__x86_64__)
TEST(TorchCounter, LiesWhereItsGetterReads) {
  alignas(16) unsigned char code[] = {0x48, 0x8b, 0x87, 0xc8, 1, 0, 0, 0xc3};
  const auto offset = [&] { return offset_of_getter(reinterpret_cast<uint64_t (*)(void*)>(code)); };
  EXPECT_EQ(offset(), 0x1c8u);
  code[7] = 0x90;  // it does more
  EXPECT_EQ(offset(), 0u);
}
#endif

// Cells of the rows of the table in docs/internals/gloo.md: the version, and whether it is recorded.
std::map<std::string, bool> versions_of_the_docs() {
  std::ifstream in(std::string(getenv("RANKFAULT_SOURCE_DIR")) + "/docs/internals/gloo.md");
  std::map<std::string, bool> found;
  const std::regex row(R"(^\| (\d+\.\d+)[^|]*\|.*\| ([^|]*) \|$)");
  std::smatch match;
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, match, row)) found[match[1]] = match[2].str().rfind("not recorded", 0) != 0;
  return found;
}

TEST(TorchVersions, OfTheDocsAreKnownIfTheyAreRecorded) {
  const auto versions = versions_of_the_docs();
  EXPECT_GE(versions.size(), 4u);
  EXPECT_TRUE(versions.count("1.13") && versions.count("2.13"));
  for (const auto& [version, recorded] : versions)
    EXPECT_TRUE(!recorded || rf_torch_is_known(rf_torch_version(version.c_str()))) << version;
}

TEST(TorchVersions, OfTheUsersPageAreThoseOfTheDecoder) {
  std::ifstream in(std::string(getenv("RANKFAULT_SOURCE_DIR")) + "/docs/how-to/what-rankfault-sees.md");
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(page, testing::HasSubstr("| PyTorch " RF_TORCH_VERSIONS " on Gloo |"));
  EXPECT_EQ(RF_TORCH_VERSIONS, "1.13 or 2." + std::to_string(RF_TORCH_2_FIRST / 100 % 100) + " to 2." +
                                   std::to_string(RF_TORCH_2_LAST / 100 % 100));
}

}  // namespace
}  // namespace rankfault::gloo_decoder
