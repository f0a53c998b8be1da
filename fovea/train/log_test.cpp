#include "fovea/train/log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(TrainingLog, LinesComeBackAndBadOnesAreNamed) {
  const LogLine line = {.step = 5, .numbers = {{"loss", 0.1}, {"x", std::nan("")}}, .validation = {{"bleu", 31.25}}};
  EXPECT_EQ(to_text(line), R"({"step":5,"loss":0.1,"x":null,"validation":{"bleu":31.25}})");
  const std::vector<LogLine> back = parse_log(to_text(line) + "\n\n{\"step\":6}\n{\"step\":7,\"lo", "log");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].numbers[0], line.numbers[0]);
  EXPECT_TRUE(std::isnan(back[0].numbers[1].second));
  EXPECT_EQ(back[0].validation, line.validation);
  for (const char* bad : {"{\"step\":1}\nhello\n", "{\"step\":1}\n{\"step\":\"x\"}\n", "{\"step\":1}\n{\"loss\":1}\n",
                          "{\"step\":1}\n{\"step\":2,\"loss\":\"high\"}\n", "{\"step\":1}\n[]\n",
                          "{\"step\":1}\n{\"step\":2,\"validation\":3}\n", "{\"step\":1}\nhello"}) {
    try {
      parse_log(bad, "log.jsonl");
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("log.jsonl:2"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace fovea
