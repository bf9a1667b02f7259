// mutated_test: the fuzz targets with damaged dumps from a seeded mutator, a few thousand for each target.
// RANKFAULT_FUZZ_ROUNDS asks for more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

#include "harness/flight_recorder/write_dump.h"
#include "tests/flight_recorder/samples.h"
#include "tests/fuzz/targets.h"

namespace rankfault::testing {
namespace {

using Target = bool (*)(const uint8_t*, size_t);

int rounds() {
  const char* asked = std::getenv("RANKFAULT_FUZZ_ROUNDS");
  return asked ? std::atoi(asked) : 5'000;
}

void damage(std::string& bytes, std::mt19937& random, const std::string& alphabet) {
  const size_t changes = 1 + random() % 4;
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t at = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = alphabet[random() % alphabet.size()];
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      case 3:
        bytes.insert(at, 1, alphabet[random() % alphabet.size()]);
        break;
      case 4:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
}

void mutate(const std::vector<std::string>& seeds, const std::string& alphabet, Target target) {
  std::mt19937 random(7);
  int taken = 0;
  for (int round = 0; round < rounds(); ++round) {
    std::string bytes = seeds[random() % seeds.size()];
    damage(bytes, random, alphabet);
    taken += target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  EXPECT_GT(taken, rounds() / 50)
      << "the mutator breaks everything: nothing behind the first check was tried";
  EXPECT_LT(taken, rounds());
}

TEST(Mutated, PicklesAreRefusedOrWhole) {
  const std::string shared =
      dump_with("entries", "](}(" + text_op("input_sizes") +
                               "](](K\x05"
                               "eeq" +
                               std::string(1, '\0') + "u}q\x01(" + text_op("output_sizes") + "h" +
                               std::string(1, '\0') + "uh\x01}q\x02(" + text_op("frames") + "](}q\x03(" +
                               text_op("name") + text_op("f") +
                               "uh\x03"
                               "euh\x02"
                               "e");
  const std::string lines =
      "(dp0\nVversion\np1\nV2.4\np2\nsVentries\np3\n(lp4\n(dp5\nVrecord_id\np6\nI7\nsag5\nas.";
  mutate({dump_to_pickle(sample_dump()), dump_to_pickle(FrDump{}), shared, lines},
         std::string("(.0FIJKLMNSTUVXabcde}ghijl]oprstq)"
                     "uGBC\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8f\x90\x91\x94\x95"),
         fuzz_pickle);
}

TEST(Mutated, JsonIsRefusedOrWhole) {
  mutate({dump_to_json(sample_dump()), dump_to_json(FrDump{})}, "{}[]:,\"\\0123456789eE.-+ntfu/\n",
         fuzz_json);
}

}  // namespace
}  // namespace rankfault::testing
