// file_text_test: whole files, and files that cannot be read.
#include "harness/base/file_text.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "harness/agent/agent_abi.h"
#include "tests/support/tool.h"

namespace rankfault {
namespace {

TEST(FileText, IsTheWholeFile) {
  const test::Scratch scratch;
  const std::string path = scratch.file("text"),
                    text = std::string(200'000, 'x') + std::string(1, '\0') + "end";
  FILE* out = std::fopen(path.c_str(), "w");
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
  EXPECT_EQ(text_of_file(path), text);
  EXPECT_EQ(hash_of_file(path), rf_hash_bytes(0, text.data(), text.size()));
  EXPECT_EQ(text_of_file(scratch.file("none")), "");
}

// As with a file of a process that ends meanwhile: the open succeeds, and each read fails.
TEST(FileText, WhatCannotBeReadIsEmpty) { EXPECT_EQ(text_of_file("/proc"), ""); }

}  // namespace
}  // namespace rankfault
