// The calls of three lines for language models and encoders, against the layers below them.
#include <gtest/gtest.h>

#include "cli/example_folder.h"
#include "fovea/fovea.h"
#include "fovea/generate/answer.h"
#include "fovea/generate/chat.h"
#include "fovea/generate/continue.h"
#include "fovea/generate/embed.h"
#include "fovea/generate/fill.h"

namespace fovea {
namespace {

class ThreeLines : public testing::Test {
 protected:
  const ExampleFolder folder_{"three_lines"};
  std::string model(const char* name) const { return (folder_ / name).string(); }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(ThreeLines, TextGeneratorWritesWhatTheSearchFinds) {
  const TextGenerator write(model("my-language-model"));
  std::string streamed;
  const auto r = write("The sailor", {.max_length = 6, .on_text = [&](std::string_view more) { streamed += more; }});
  const Pretrained below = load_pretrained(model("my-language-model"));
  const auto expected =
      continue_texts(below.as<Generator>(), *below.tokenizer, {"The sailor"}, {.max_length = 6})[0][0];
  EXPECT_EQ(r.text, expected.text);
  EXPECT_EQ(r.text, streamed);
  EXPECT_EQ(r.log_probabilities, expected.log_probabilities);
  EXPECT_EQ(r.stop, std::string(name(expected.stop)));
  EXPECT_EQ(write({"The sailor", "The teacher"}, {.max_length = 6})[0].text, r.text);
  EXPECT_EQ(write("The sailor", {.interrupted = [] { return true; }}).stop, "interrupted");
  EXPECT_NE(error_of([&] { write("The", {.temperature = -1}); }), "no error");
  EXPECT_NE(error_of([&] { TextGenerator(model("my-model")); }).find("language model"), std::string::npos);
}

TEST_F(ThreeLines, ChatPartnerRemembersWhatWasSaid) {
  ChatPartner partner(model("my-language-model"), {.system = "Be brief."});
  const std::string first = partner.say("Who sang?", {.max_length = 4});
  const Pretrained below = load_pretrained(model("my-language-model"));
  Chat chat(below, "Be brief.");
  EXPECT_EQ(first, chat.say("Who sang?", {.max_length = 4}).text);
  EXPECT_EQ(partner.say("Who?", {.max_length = 4}), chat.say("Who?", {.max_length = 4}).text);
  ASSERT_EQ(partner.messages().size(), chat.messages().size());
  EXPECT_EQ(partner.messages().back().second, chat.messages().back().content);
  ChatPartner moved = std::move(partner);
  moved.clear();
  EXPECT_EQ(moved.say("Who sang?", {.max_length = 4}), first);
  EXPECT_NE(error_of([&] { ChatPartner(model("my-encoder")); }), "no error");
}

TEST_F(ThreeLines, TextEmbedderGivesTheEncodersVectors) {
  const TextEmbedder embed(model("my-encoder"));
  const Pretrained below = load_pretrained(model("my-encoder"));
  const Tensor expected = Embedder(below)({"the a b", "c d"});
  const auto found = embed({"the a b", "c d"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1], expected.select(0, 1).values<float>());
  EXPECT_DOUBLE_EQ(embed.similarity("the a b", "c d"), cosine(expected, 0, 1));
  EXPECT_EQ(embed("c d").size(), found[1].size());
  EXPECT_TRUE(embed(std::vector<std::string>()).empty());
}

TEST_F(ThreeLines, MaskFillerAndAnswererFindWhatTheVerbsDo) {
  const auto gaps = MaskFiller(model("my-masked"))("the [MASK] .", {.top = 3});
  const Pretrained masked = load_pretrained(model("my-masked"));
  const Filled filled = fill(masked.as<GapFiller>(), *masked.tokenizer, {"the [MASK] ."}, 3)[0];
  ASSERT_EQ(gaps.size(), 1u);
  ASSERT_EQ(gaps[0].choices.size(), 3u);
  EXPECT_EQ(gaps[0].choices[0].token, filled.gaps[0].choices[0].token);
  EXPECT_EQ(gaps[0].choices[2].probability, filled.gaps[0].choices[2].probability);
  EXPECT_EQ(gaps[0].span.begin, 4);

  const std::string text = "the a b c d e f";
  const auto r = Answerer(model("my-finder"))("who ?", text, {.top = 2});
  const Pretrained finder = load_pretrained(model("my-finder"));
  const auto expected = answer(finder.as<AnswerFinder>(), *finder.tokenizer, "who ?", text, {.top = 2});
  EXPECT_EQ(r.text, expected.at(0).text);
  EXPECT_EQ(piece_of(text, r.span), r.text);
  ASSERT_EQ(r.others.size(), expected.size() - 1);
  EXPECT_EQ(r.others[0].probability, expected[1].probability);
  EXPECT_NE(error_of([&] { Answerer(model("my-masked")); }).find("does not do this"), std::string::npos);
}

}  // namespace
}  // namespace fovea
