// glob: patterns of paths, compared with the results of fnmatch(3).
#include "harness/agent/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace {

TEST(Glob, AgreesWithFnmatchOnWhatItKnows) {
  const char* pairs[][2] = {{"*.tmp", "/a/b/model.tmp"},
                            {"*.tmp", "/a/b/model"},
                            {"/dev/shm/nccl-??????", "/dev/shm/nccl-AbCdEf"},
                            {"*/step-[0-9]*", "/x/step-12"},
                            {"*/step-[!0-9]*", "/x/step-12"},
                            {"a\\*b", "a*b"},
                            {"a\\*b", "axb"},
                            {"", ""},
                            {"*", ""},
                            {"a*b*c", "aXbXbYc"},
                            {"a*b*c", "aXbXbY"},
                            {"[", "["},
                            {"[]a]", "]"},
                            {"?", ""},
                            {"**a", "ba"}};
  for (const auto& [pattern, text] : pairs)
    EXPECT_EQ(rf_glob(pattern, text) != 0, fnmatch(pattern, text, 0) == 0) << pattern << " on " << text;
}

TEST(Glob, AgreesWithFnmatchOnRandomPatterns) {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string pattern, text;
    for (int n = static_cast<int>(random() % 7); n > 0; --n) pattern += "ab*?"[random() % 4];
    for (int n = static_cast<int>(random() % 9); n > 0; --n) text += "ab"[random() % 2];
    ASSERT_EQ(rf_glob(pattern.c_str(), text.c_str()) != 0, fnmatch(pattern.c_str(), text.c_str(), 0) == 0)
        << pattern << " on " << text;
  }
}

}  // namespace
