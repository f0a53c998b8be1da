// `fovea quantize` and --weights, as a user types them.
#include <gtest/gtest.h>

#include "cli/example_folder.h"
#include "fovea/base/file.h"
#include "fovea/formats/safetensors.h"

namespace fovea {
namespace {

TEST(QuantizeVerb, WhatItWritesAnswersAsTheFlagDoes) {
  const ExampleFolder folder("quantize");
  for (const std::string precision : {"int8", "bf16", "f32"}) {
    SCOPED_TRACE(precision);
    const Answer made = folder.run("quantize my-model -o packed --weights " + precision);
    ASSERT_EQ(made.code, 0) << made.out;
    EXPECT_NE(made.out.find(precision + " weights in"), std::string::npos) << made.out;
    const Answer flag = folder.run("translate -m my-model 'a b c' --json --weights " + precision);
    const Answer stored = folder.run("translate -m packed 'a b c' --json");
    EXPECT_EQ(stored.code, 0) << stored.out;
    EXPECT_EQ(stored.out, flag.out);
    const Answer info = folder.run("info packed");
    EXPECT_EQ(info.code, 0) << info.out;
    EXPECT_NE(info.out.find("used as              " + precision + ", or"), std::string::npos) << info.out;
  }
  EXPECT_FALSE(path_exists(folder / "packed.new"));
}

TEST(QuantizeVerb, AGgufFileWritesWhatItsFolderWrites) {
  const ExampleFolder folder("quantize_gguf");
  const std::string prompt = " 'The sailor' --max-length 8 --quiet";
  const Answer whole = folder.run("generate -m my-language-model" + prompt);
  ASSERT_EQ(whole.code, 0) << whole.out;
  for (const std::string weights : {"f32", "f16", "q8_0"}) {
    SCOPED_TRACE(weights);
    const Answer made = folder.run("quantize my-language-model -o my.gguf --weights " + weights);
    ASSERT_EQ(made.code, 0) << made.out;
    EXPECT_NE(made.out.find("my.gguf: "), std::string::npos) << made.out;
    const Answer found = folder.run("generate -m my.gguf" + prompt);
    EXPECT_EQ(found.code, 0) << found.out;
    if (weights == "f32") EXPECT_EQ(found.out, whole.out);
    const Answer info = folder.run("info my.gguf --json");  // its rows are narrower than a block
    EXPECT_EQ(info.code, 0) << info.out;
    EXPECT_NE(info.out.find(R"("used_as":"f32")"), std::string::npos) << info.out;
    EXPECT_EQ(folder.run("quantize my.gguf -o again.gguf --weights bf16").code, 0);
  }
  EXPECT_FALSE(path_exists(folder / "my.gguf.new"));
  EXPECT_EQ(folder.run("quantize my.gguf -o my.gguf").code, 2);
  EXPECT_EQ(folder.run("quantize my.gguf -o folder").code, 2);
  EXPECT_EQ(folder.run("quantize my-model -o my.gguf").code, 2);
  EXPECT_EQ(folder.run("quantize my-language-model -o my.gguf --weights int8").code, 2);
}

TEST(QuantizeVerb, WhatDoesNotFitIsOneClearLine) {
  const ExampleFolder folder("quantize_wrong");
  auto error_of = [&](const std::string& arguments) {
    const Answer answer = folder.run(arguments);
    EXPECT_EQ(answer.code, 2) << arguments << ": " << answer.out;
    EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1) << answer.out;
    return answer.out;
  };
  EXPECT_NE(error_of("quantize my-model").find("--output"), std::string::npos);
  EXPECT_NE(error_of("quantize my-model -o my-model").find("own folder"), std::string::npos);
  EXPECT_NE(error_of("quantize my-model -o .").find("holds no model"), std::string::npos);
  EXPECT_NE(error_of("quantize my-model -o packed --weights int7").find("int8"), std::string::npos);
  EXPECT_NE(error_of("translate -m my-model a --weights float").find("bf16"), std::string::npos);
  ASSERT_EQ(folder.run("quantize my-model -o packed").code, 0);
  EXPECT_NE(error_of("translate -m packed a --weights f32").find("packed as int8"), std::string::npos);
  EXPECT_NE(error_of("quantize packed -o again --weights bf16").find("packed as int8"), std::string::npos);
}

// Each byte of a packed file's head and some of its numbers, turned over.
TEST(QuantizeVerb, DamagedFilesAreErrorsNeverCrashes) {
  const ExampleFolder folder("quantize_damaged");
  ASSERT_EQ(folder.run("quantize my-model -o packed").code, 0);
  const std::string path = (folder / "packed").string() + "/model.safetensors", whole = read_text(path);
  for (const size_t cut : {size_t{0}, size_t{7}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write_text(path, whole.substr(0, cut));
    EXPECT_EQ(folder.run("translate -m packed a").code, 2) << cut;
  }
  const std::string key = "\"fovea_packed\":\"int8\"";
  ASSERT_NE(whole.find(key), std::string::npos);
  for (const std::string& other :
       {std::string("\"fovea_packed\":\"bf16\""), std::string("\"fovea_packed\":\"int9\"")}) {
    std::string changed = whole;
    changed.replace(changed.find(key), key.size(), other);
    write_text(path, changed);
    EXPECT_EQ(folder.run("translate -m packed a").code, 2) << other;
  }
  std::string nonsense = whole;
  const size_t data = 8 + static_cast<size_t>(static_cast<unsigned char>(whole[0])) +
                      (static_cast<size_t>(static_cast<unsigned char>(whole[1])) << 8);
  std::fill(nonsense.begin() + static_cast<std::ptrdiff_t>(data), nonsense.end(), '\xff');
  write_text(path, nonsense);
  EXPECT_EQ(folder.run("translate -m packed a").code, 2);  // scales of NaN
}

}  // namespace
}  // namespace fovea
