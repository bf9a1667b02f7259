// escape_test: text of a job in each format that it is written into.
#include "reports/escape.h"

#include <gtest/gtest.h>

#include "harness/base/printable.h"

namespace rankfault::test {
namespace {

TEST(Printable, ControlCharactersOfUnicodeAreReplaced) {
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m");  // CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "abc"),
            "?abc");                                             // right to left
  EXPECT_EQ(printable("\xf0\x9f\x92\xa5"), "\xf0\x9f\x92\xa5");  // an emoji
  EXPECT_EQ(printable("\xf0\x8f\xbf\xbf"), "????");              // longer than it must be
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");              // beyond Unicode
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");                   // half of a pair
}

TEST(InertText, HasNoCommandForACiServer) {
  EXPECT_EQ(inert_text("  ::error::x\n::set-env name=A::b"), "  ?::error::x\n?::set-env name=A::b");
  EXPECT_EQ(inert_text("a ##[error]b ##vso[task]c"), "a ##?[error]b ##?vso[task]c");
  EXPECT_EQ(inert_text("###[error]b ####vso[task]c"), "###?[error]b ####?vso[task]c");
  EXPECT_EQ(inert_text("\xc2\xa0\xe3\x80\x80::error::x"), "\xc2\xa0\xe3\x80\x80?::error::x");
  EXPECT_EQ(inert_text("std::vector # ## [x]\n"), "std::vector # ## [x]\n");
  EXPECT_EQ(inert_text("a\tb\r\n"), "a b?\n");
  EXPECT_EQ(inert_text(inert_text("::a")), "?::a");
  EXPECT_EQ(inert_text(""), "");
}

// A mask behind the escapes would take the escapes, or words of ours, for the value.
TEST(Escape, SecretsAreMaskedBeforeTheTextIsEscaped) {
  EXPECT_EQ(markdown_text("TOKEN_=hunter2"), "TOKEN\\_=\\*\\*\\*");
  EXPECT_EQ(markdown_code("--api-keys=[abc, def] x"), "`--api-keys=*** x`");
  EXPECT_EQ(markdown_block("API_KEY=x"), "```text\nAPI_KEY=***\n```\n");
  EXPECT_EQ(xml_text("{\"token\": \"<x>\"}"), "{&quot;token&quot;: ***}");
}

TEST(Escape, Xml) {
  EXPECT_EQ(xml_text("<a b=\"c\"> & ]]>\x01"), "&lt;a b=&quot;c&quot;&gt; &amp; ]]&gt;?");
  EXPECT_EQ(xml_text("\xef\xbf\xbe\xef\xbf\xbd"), "?\xef\xbf\xbd");
}

TEST(Escape, Markdown) {
  EXPECT_EQ(markdown_text("<b> a*b_c [x](y) `d` a|b & @me #1\nx"),
            "&lt;b&gt; a\\*b_c \\[x\\](y) \\`d\\` a\\|b &amp; @&#8203;me \\#1?x");
  EXPECT_EQ(markdown_text("- a"), "\\- a");
  EXPECT_EQ(markdown_text("all_reduce _a_ ![x](y)"), "all_reduce \\_a\\_ !\\[x\\](y)");
  EXPECT_EQ(markdown_text("::error::x"), "?::error::x");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
  EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_code(""), "");
  EXPECT_EQ(markdown_block("a"), "```text\na\n```\n");
  EXPECT_EQ(markdown_block("```\n"), "````text\n```\n````\n");
}

TEST(Escape, Github) {
  EXPECT_EQ(github_message("50% a:b,c\nd"), "50%25 a:b,c%0Ad");
  EXPECT_EQ(github_property("a:b,c%\nd"), "a%3Ab%2Cc%25?d");
}

TEST(Escape, ACutLeavesWholeCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("ab\xc3\xbc"
                     "c",
                     3),
            "ab...");
}

}  // namespace
}  // namespace rankfault::test
