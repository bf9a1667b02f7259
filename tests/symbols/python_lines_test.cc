// python_lines: the tables are those that CPython 3.9.2, 3.11.2, 3.13.5 and 3.14 made of one function with
// nested calls, a loop, an exception handler and a comprehension; the lines are what co_lines() and dis say
// of them.
#include "harness/symbols/python_lines.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace rankfault {
namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

struct Compiled {
  int minor, first_line;
  std::string table;  // hex
  std::string runs;   // "offset:line": from this offset on
};

void PrintTo(const Compiled& one, std::ostream* to) { *to << "Python 3." << one.minor; }

class PythonLines : public testing::TestWithParam<Compiled> {};

TEST_P(PythonLines, AreThoseOfTheInterpreter) {
  const std::string table = bytes_of(GetParam().table);
  std::istringstream runs(GetParam().runs);
  uint32_t from = 0, to = 0;
  int line = 0, next_line = 0;
  char colon = 0;
  runs >> from >> colon >> line;
  while (runs >> to >> colon >> next_line) {
    for (; from < to; from += 2)
      EXPECT_EQ(python_line(GetParam().minor, GetParam().first_line, table, from), line) << "offset " << from;
    line = next_line;
  }
  EXPECT_EQ(python_line(GetParam().minor, GetParam().first_line, table, from), line);
}

INSTANTIATE_TEST_SUITE_P(
    Versions, PythonLines,
    testing::Values(
        Compiled{9, 2,
                 "000504010c0108010201020102ff02ff06050801040104010201020102fe08030c010c02140b2801060102ff",
                 "0:7 4:8 16:9 24:10 26:11 28:12 30:11 32:10 38:15 46:16 50:17 54:18 56:19 58:20 60:18 68:21 "
                 "80:22 92:24 112:35 152:36 158:37 160:36 "},
        Compiled{
            11, 2,
            "8000f00a000d0e8045dd0d12903189588c58f000080515f0000805158801d80b0c88718935f000070915d80c11d81011"
            "d812"
            "13f103011114f103030d0e88458845f00a000d129051894a8845d80c14f002070513dd1016d80c11d80c0df10502110f"
            "f400"
            "02110f88058805f8f506000c16f000010513f000010513f000010513d81012880588058805f003010513f8f8f8f00600"
            "090e"
            "9011890a88058805f888059011890a88058805880588058805f516000a0e8865891b8c1bd0041f9801d0041fd0041fd0"
            "041f"
            "d1041fd4041fd0041fd0041fd0041fd0041fd0041fd0041ff8f8f8d0041fd0041fd0041fd0041ff002010c18f000010c"
            "18d8"
            "1516f003010c18f100010c18f400010c18f000010518",
            "0:2 2:7 6:8 40:9 50:10 52:11 54:12 56:11 60:10 68:15 78:16 80:17 82:18 94:19 96:20 98:18 "
            "116:0 118:21 136:22 144:21 146:0 152:24 164:0 166:24 184:35 248:0 254:35 262:36 266:37 268:36 "},
        Compiled{13, 2,
                 "8000f00a000d0e8045dc0d1290318e588801d80b0c88718f35d80c11d81011d81213f103011114f103030d0e8a4"
                 "5f00a000d"
                 "129051894a8845d90c14f111000e16f012070513dc1016d80c11d80c0df30502110f8805f00c00090e9011890a8"
                 "805f41600"
                 "0a0e88658c1b98018f1be11516f303010c18da15169001f303000d0ed91516f103010c18f000010518f8f41f000"
                 "c16f30001"
                 "0513d810128a05f003010513fbf00600090e9011890a8905faf716000a158d1bfcf202010c18",
                 "0:2 2:7 6:8 34:9 54:10 56:11 58:12 60:11 64:10 74:15 84:16 88:8 92:17 94:18 104:19 106:20 "
                 "108:18 118:24 128:35 168:37 172:36 180:37 188:36 196:37 200:36 206:0 208:21 226:22 234:21 "
                 "236:0 244:24 256:0 "
                 "262:35 290:0 300:36 "},
        Compiled{
            14, 2,
            "8000f00a000d0e8045dc0d1290318e588801d80b0c88718f358c35d80c11d81011d81213f503011114f503030d0e8a45"
            "f00a"
            "000d1290518d4a8845d90c14f111000e16f012070513dc1016d80c11d80c0df30502110f8805f00c00090e90118d0a88"
            "05f4"
            "16000a0e88658f1b8c1b98018f1be11516f303010c18d915169001f303000d0ed91516f103010c18f000010518f8f41f"
            "000c"
            "16f400010513d810128a05f003010513fbf00600090e90118d0a8905faf716000a158f1bfcf202010c18",
            "0:2 2:7 6:8 34:9 64:10 66:11 68:12 70:11 82:10 100:15 118:16 122:8 126:17 128:18 138:19 140:20 "
            "142:18 152:24 170:35 226:37 230:36 238:37 244:36 252:37 256:36 262:0 264:21 284:22 292:21 294:0 "
            "302:24 322:0 "
            "328:35 360:0 370:36 "}),
    [](const auto& one) { return "Python3" + std::to_string(one.param.minor); });

// PEP 626: ranges of bytes; a range whose line is -128 has none, and the next range counts from the line
// before.
TEST(PythonLineRanges, Of310) {
  const std::string table = bytes_of(
      "0601"
      "0400"
      "0280"
      "08fe");
  EXPECT_EQ(python_line(10, 10, table, 0), 11);
  EXPECT_EQ(python_line(10, 10, table, 8), 11);
  EXPECT_EQ(python_line(10, 10, table, 10), 0);
  EXPECT_EQ(python_line(10, 10, table, 12), 9);
  EXPECT_EQ(python_line(10, 10, table, 20), 0) << "behind the end";
}

TEST(PythonLineTables, OfCodeOnOneLineAreEmptyBefore310) { EXPECT_EQ(python_line(9, 28, "", 14), 28); }

TEST(PythonLineTables, DamagedAnywhereGiveALineOrNone) {
  const std::string whole = bytes_of("8000f00a000d0e8045dc0d1290318e5888f00c00090e9011");
  for (const int minor : {8, 10, 11, 14})
    for (size_t cut = 0; cut <= whole.size(); ++cut)
      for (int byte = 0; byte < 256; byte += 5) {
        std::string table = whole.substr(0, cut);
        if (cut > 0) table[cut / 2] = static_cast<char>(byte);
        for (const uint32_t at : {0u, 6u, 4000000000u}) python_line(minor, 1, table, at);
      }
}

}  // namespace
}  // namespace rankfault
