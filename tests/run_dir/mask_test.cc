// Mask: which names are secret, and where their values occur.
#include "harness/base/mask.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "harness/journal/journal.h"

namespace rankfault::test {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

TEST(Mask, ANameIsSecretByAWholePartOfIt) {
  for (const char* secret : {"secret",    "TOKEN",         "--api-key",  "API_KEY",
                             "apiKey",    "APIKey",        "hf.token",   "AWS_SECRET_ACCESS_KEY",
                             "Password",  "db-passwd",     "keys",       "TOKENS",
                             "passwords", "KEY2",          "s3Key",      "passphrase",
                             "apikey",    "OPENAI_APIKEY", "PGPASSWORD", "--authtoken",
                             "secretkey"})
    EXPECT_TRUE(names_secret(secret)) << secret;
  for (const char* plain : {"", "KEYBOARD", "MONKEY", "--tokenizer", "PWD", "PATH", "secretary", "keyed",
                            "TOKENIZERS", "passes", "--bypass", "HOCKEY_STICK", "RANK"})
    EXPECT_FALSE(names_secret(plain)) << plain;
}

TEST(Mask, HidesTheValuesOfArguments) {
  EXPECT_THAT(masked_words({"prog", "--api-key=XYZ", "--token", "XYZ", "--steps", "5"}),
              ElementsAre("prog", "--api-key=***", "--token", "***", "--steps", "5"));
  EXPECT_THAT(masked_words({"docker", "-e", "DB_PASSWORD=a b", "-eTOKEN=XYZ", "-x", "KEY=XYZ"}),
              ElementsAre("docker", "-e", "DB_PASSWORD=***", "-eTOKEN=***", "-x", "KEY=***"));
  EXPECT_THAT(masked_words({"mpiexec", "-genv", "API_KEY", "XYZ", "-env", "COLOUR", "red", "prog"}),
              ElementsAre("mpiexec", "-genv", "API_KEY", "***", "-env", "COLOUR", "red", "prog"));
  EXPECT_THAT(masked_words({"--token", "-XYZ"}), ElementsAre("--token", "***")) << "it may begin with a dash";
  EXPECT_THAT(masked_words({"--use-token", "--steps", "5"}), ElementsAre("--use-token", "***", "5"));
  EXPECT_THAT(masked_words({"--password"}), ElementsAre("--password"));
  EXPECT_THAT(masked_words({"key", "value", "--keyboard", "de"}),
              ElementsAre("key", "value", "--keyboard", "de"));
}

TEST(Mask, HidesAValueThatLooksLikeAnOption) {
  EXPECT_THAT(masked_words({"prog", "--token", "--XYZ", "-v"}), ElementsAre("prog", "--token", "***", "-v"));
  EXPECT_THAT(masked_words({"--token", "--XYZ=1", "-v"}), ElementsAre("--token", "***", "-v"));
  EXPECT_THAT(masked_words({"--use-token", "--password", "XYZ", "5"}),
              ElementsAre("--use-token", "***", "***", "5"))
      << "the first may take no value";
  EXPECT_THAT(masked_words({"--use-token", "--", "prog"}), ElementsAre("--use-token", "--", "prog"));
  EXPECT_EQ(masked_text("prog --token --XYZ -v"), "prog --token *** -v");
  EXPECT_EQ(masked_text("prog --use-token --password XYZ -v"), "prog --use-token *** *** -v");
  EXPECT_EQ(masked_text("prog --use-token -- prog2"), "prog --use-token -- prog2");
}

TEST(Mask, HidesThemInsideOfAWord) {
  EXPECT_THAT(masked_words({"bash", "-c", "cd x; API_KEY=XYZ ./prog --token XYZ -v"}),
              ElementsAre("bash", "-c", "cd x; API_KEY=*** ./prog --token *** -v"));
  EXPECT_THAT(masked_words({"API_KEY=XYZ ./prog"}), ElementsAre("API_KEY=***"))
      << "the value may hold blanks";
  EXPECT_THAT(masked_words({"--opts=lr=1,api_key=XYZ"}), ElementsAre("--opts=lr=1,api_key=***"));
  EXPECT_THAT(masked_words({R"({"token": "X Y", "n": 1})"}), ElementsAre(R"({"token": ***, "n": 1})"));
  EXPECT_EQ(masked_text("password='a b' and more"), "password=*** and more");
}

TEST(Mask, HidesThemInYamlAndLeavesSentences) {
  EXPECT_EQ(masked_text("env:\n  API_KEY: X Y\n  N: 1\n"), "env:\n  API_KEY: ***\n  N: 1\n");
  EXPECT_EQ(masked_text("env: {API_KEY: XYZ, N: 1}"), "env: {API_KEY: ***, N: 1}");
  for (const char* sentence :
       {"a wrong key: colour", "the key \"x\" stands twice", "token=", "key", "--token"})
    EXPECT_EQ(masked_text(sentence), sentence);
}

TEST(Mask, GoesThroughJson) {
  const Json json = {{"argv", {"a", "--token", "XYZ"}},
                     {"env", {{"API_KEY", "XYZ"}, {"COLOUR", "red"}}},
                     {"list", {{{"text", "secret=XYZ"}}, 1, nullptr}},
                     {"key", 5}};
  EXPECT_EQ(masked(json).dump(), R"({"argv":["a","--token","***"],"env":{"API_KEY":"***","COLOUR":"red"},)"
                                 R"("list":[{"text":"secret=***"},1,null],"key":5})");
}

TEST(Mask, GoesThroughHeadersAndLists) {
  EXPECT_EQ(masked_text("curl -H \"X-Api-Key: XYZ\" http://host"), "curl -H \"X-Api-Key: ***\" http://host");
  EXPECT_EQ(masked_text(R"({"tokens": ["XYZ", "ABC"], "steps": 5})"), R"({"tokens": ***, "steps": 5})");
  EXPECT_EQ(masked({{"tokens", {"XYZ", "ABC"}}, {"steps", 5}}),
            Json({{"tokens", {"***", "***"}}, {"steps", 5}}));
}

TEST(Mask, AValueCanBeComparedWithoutBeingShown) {
  EXPECT_EQ(comparable_mask("XYZ"), comparable_mask("XYZ"));
  EXPECT_NE(comparable_mask("XYZ"), comparable_mask("XYW"));
  const Json json = {{"TOKEN", comparable_mask("XYZ")}};
  EXPECT_EQ(masked(json), json);
}

TEST(Mask, IsAppliedToEveryJournalLine) {
  char path[] = "/tmp/mask-test.XXXXXX";
  const int fd = ::mkstemp(path);
  ::close(fd);
  ::unlink(path);
  {
    Result<Journal> journal = Journal::create(path);
    ASSERT_TRUE(journal.ok());
    events::Spawned spawned;
    spawned.argv = {"prog", "--token", "XYZ"};
    journal->write(spawned);
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  ::unlink(path);
  EXPECT_EQ(text.str().find("XYZ"), std::string::npos) << text.str();
}

}  // namespace
}  // namespace rankfault::test
