#include "fovea/generate/continue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/data/text/bytes.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/generate/chat.h"
#include "fovea/generate/text_stream.h"
#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"

namespace fovea {
namespace {

using Ids = std::vector<int64_t>;

// Decodes bytes as they are: half characters stay half.
const Bytes& bytes() {
  static const Bytes tokenizer;
  return tokenizer;
}

Ids ids_of(const std::string& text) { return bytes().encode(text).ids; }

// A Llama whose vocabulary is that of the bytes.
std::unique_ptr<Model> small_model(int64_t end = 2) {
  const std::unique_ptr<ModelConfig> config = find<Family>("llama").config();
  from_json(R"({"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
                "max_position_embeddings": 200})",
            *config, "test");
  tell(*config, {.vocabulary = bytes().size(), .special = {.eos = end}});
  std::unique_ptr<Model> model = config->make();
  Variant::randomise(*model);
  return model;
}

TEST(TextStream, HandsOnNoHalfCharacters) {
  TextStream stream(bytes(), {});
  std::string all;
  for (int64_t id : ids_of("aé€😀b")) {
    const std::string more = stream.add(id);
    EXPECT_EQ(invalid_utf8(more), std::string::npos) << more;
    all += more;
  }
  EXPECT_EQ(all + stream.finish(), "aé€😀b");
  EXPECT_EQ(stream.text(), "aé€😀b");
  ASSERT_EQ(stream.spans().size(), 11u);
  EXPECT_EQ(stream.spans().back().end, 11);
}

TEST(TextStream, HoldsBackWhatMayBecomeAStopString) {
  TextStream stream(bytes(), {}, {"END.", "\n\n"});
  std::string all;
  for (char c : std::string("an EN, a END")) all += stream.add(ids_of(std::string(1, c))[0]);
  EXPECT_EQ(all, "an EN, a ");
  EXPECT_EQ(stream.add(ids_of(".")[0]), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.text(), "an EN, a ");
  for (const Span& span : stream.spans()) EXPECT_LE(span.end, 9);
}

TEST(TextStream, GivesTheRestAtTheEnd) {
  TextStream stream(bytes(), {}, {"stop"});
  std::string all;
  for (int64_t id : ids_of("nonst")) all += stream.add(id);
  EXPECT_EQ(all, "non");
  EXPECT_EQ(stream.finish(), "st");
  EXPECT_FALSE(stream.stopped());
}

TEST(Continue, GreedyTextIsThatOfTheFullPass) {
  const auto model = small_model();
  const Generator& writer = as<Generator>(*model);
  Ids all = prompt_ids(writer, bytes(), "The sea");
  const size_t prompt = all.size();
  std::vector<double> expected;
  for (int i = 0; i < 20; ++i) {
    const auto count = static_cast<int64_t>(all.size());
    const auto row = writer.logits({}, tensor({1, count}, all), {}).select(1, count - 1).values<double>();
    const auto best = std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double x : row) sum += std::exp(x - *best);
    expected.push_back(-std::log(sum));
    all.push_back(best - row.begin());
    if (all.back() == 2) break;
  }
  const Ids written(all.begin() + static_cast<std::ptrdiff_t>(prompt), all.end());
  std::string streamed;
  for (const bool streams : {false, true}) {
    ContinueOptions options;
    if (streams) options.on_text = [&](std::string_view more) { streamed += more; };
    const Continuation c = continue_texts(writer, bytes(), {"The sea"}, {.max_length = 20}, options)[0][0];
    EXPECT_EQ(c.ids, written);
    ASSERT_EQ(c.log_probabilities.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(c.log_probabilities[i], expected[i], 1e-4);
    EXPECT_EQ(c.tokens.size(), c.ids.size());
    EXPECT_EQ(c.stop, written.back() == 2 ? Continuation::Stop::end : Continuation::Stop::length);
    if (streams) EXPECT_EQ(streamed, c.text);
  }
}

TEST(Continue, PromptsOfAnyLengthTogetherHaveTheTextsOfEachAlone) {
  const auto model = small_model();
  const Generator& writer = as<Generator>(*model);
  const std::vector<std::string> prompts = {"a", std::string(150, 'x'), "The sea is wide", "", "b c"};
  for (const GenerationConfig& config :
       {GenerationConfig{.max_length = 12}, GenerationConfig{.beam_size = 3, .n_best = 2, .max_length = 12},
        GenerationConfig{.n_best = 2, .sample = true, .seed = 5, .max_length = 12}}) {
    const auto together = continue_texts(writer, bytes(), prompts, config);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const Request request = {.prompt = prompt_ids(writer, bytes(), prompts[i])};
      if (config.sample && i > 0) continue;  // others have other random numbers
      const Hypotheses alone = generate(writer, {request}, config)[0];
      ASSERT_EQ(together[i].size(), alone.size());
      for (size_t k = 0; k < alone.size(); ++k) {
        EXPECT_EQ(together[i][k].log_probabilities, alone[k].log_probabilities);
        EXPECT_EQ(together[i][k].score, alone[k].score);
      }
    }
  }
}

TEST(Continue, ALongPromptIsReadInChunks) {
  const std::unique_ptr<ModelConfig> config = find<Family>("llama").config();
  from_json(R"({"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2})", *config,
            "test");
  tell(*config, {.vocabulary = bytes().size()});
  const auto large = config->make();
  Variant::randomise(*large);
  const Generator& writer = as<Generator>(*large);
  Ids prompt;
  for (int64_t i = 0; i < 1100; ++i) prompt.push_back(4 + i * 7 % 200);
  const auto found = generate(writer, {{.prompt = prompt}}, {.max_length = 1})[0][0];
  const auto row = writer.logits({}, tensor({1, 1100}, prompt), {}).select(1, 1099).values<double>();
  EXPECT_EQ(found.ended ? found.end_id : found.ids[0], std::max_element(row.begin(), row.end()) - row.begin());
}

TEST(Continue, StopsAtTheModelsLastPosition) {
  const auto model = small_model(-1);
  const Generator& writer = as<Generator>(*model);
  const Continuation c = continue_texts(writer, bytes(), {std::string(190, 'x')}, {.max_length = 100})[0][0];
  EXPECT_EQ(c.ids.size(), 11u);  // 190 tokens of the prompt and ten that are read; nothing follows the last
  EXPECT_EQ(c.stop, Continuation::Stop::length);
  EXPECT_THROW(continue_texts(writer, bytes(), {std::string(250, 'x')}, {}), Error);
}

TEST(Continue, AConversationReadsOnlyWhatIsNew) {
  const auto model = small_model(-1);
  const Generator& writer = as<Generator>(*model);
  Conversation talk(writer, bytes());
  talk.read(ids_of("Hello"));
  const Continuation first = talk.write({.max_length = 5});
  EXPECT_EQ(talk.cached(), 9);
  talk.read(ids_of(" you"));
  const Ids before = talk.ids();
  const Continuation second = talk.write({.max_length = 5});
  Conversation anew(writer, bytes());
  anew.read(before);
  EXPECT_EQ(anew.write({.max_length = 5}).log_probabilities, second.log_probabilities);
  Ids longer = talk.ids();
  longer.push_back(ids_of("!")[0]);
  talk.become(longer);
  EXPECT_GT(talk.cached(), 0);
  talk.become(ids_of("Other"));
  EXPECT_EQ(talk.cached(), 0);
  EXPECT_THROW(talk.write({.beam_size = 2}), Error);
  int tokens = 0;
  const Continuation cut = talk.write({.max_length = 50}, {.interrupted = [&] { return ++tokens > 3; }});
  EXPECT_EQ(cut.stop, Continuation::Stop::interrupted);
  EXPECT_EQ(cut.ids.size(), 3u);
}

TEST(Continue, RulesOfFilesHold) {
  const auto model = small_model();
  const Generator& writer = as<Generator>(*model);
  const Request request = {.prompt = ids_of("The sea")};
  auto ids = [&](const GenerationConfig& c) {
    const Hypothesis h = generate(writer, {request}, c)[0][0];
    return h.ids;
  };
  const Ids free = ids({.min_length = 6, .max_length = 6});
  ASSERT_EQ(free.size(), 6u);
  GenerationConfig c = {.min_length = 6, .max_length = 6};
  c.never = {free[0]};
  for (int64_t id : ids(c)) EXPECT_NE(id, free[0]);
  c.never = {}, c.not_first = {free[0]};
  EXPECT_NE(ids(c)[0], free[0]);
  c.not_first = {}, c.never_in_a_row = {{free[0], free[1]}};
  EXPECT_EQ(ids(c)[0], free[0]);
  EXPECT_NE(ids(c)[1], free[1]);
  c.never_in_a_row = {{request.prompt.back(), free[0]}};
  EXPECT_NE(ids(c)[0], free[0]);
  c.never_in_a_row = {}, c.first_id = 77, c.last_id = 78;
  EXPECT_EQ(ids(c)[0], 77);
  EXPECT_EQ(ids(c)[5], 78);
  GenerationConfig ends = {.max_length = 6};
  ends.end_ids = {250, free[2] == free[1] || free[2] == free[0] ? free[0] : free[2]};
  const Hypothesis ended = generate(writer, {request}, ends)[0][0];
  EXPECT_TRUE(ended.ended);
  EXPECT_EQ(ended.end_id, ends.end_ids[1]);
  EXPECT_LT(ended.ids.size(), 3u);
}

TEST(Continue, MinPKeepsTheProbable) {
  const auto model = small_model();
  const Generator& writer = as<Generator>(*model);
  const GenerationConfig one = {.n_best = 20, .sample = true, .min_p = 1, .max_length = 5};
  const Hypotheses found = generate(writer, {{.prompt = ids_of("The sea")}}, one)[0];
  for (const Hypothesis& h : found) EXPECT_EQ(h.ids, found[0].ids);
}

TEST(GenerationConfig, ReadsWhatTransformersWrites) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fovea_hf_generation";
  std::filesystem::create_directories(folder);
  write_text(
      folder / "generation_config.json",
      R"({"_from_model_config": true, "bos_token_id": 1, "do_sample": true, "eos_token_id": [2, 5], "max_length": 40,
                 "pad_token_id": 0, "temperature": 0.6, "top_p": 0.9, "transformers_version": "4.40", "early_stopping": true,
                 "num_beams": 1, "bad_words_ids": [[3], [4, 5]], "suppress_tokens": [7], "some_new_key": 3})");
  std::string notes;
  const GenerationConfig c = read_generation_config(folder, [&](const std::string& line) { notes += line; });
  EXPECT_TRUE(c.sample);
  EXPECT_EQ(c.end_ids, (Ids{2, 5}));
  EXPECT_EQ(c.top_k, 50);
  EXPECT_EQ(c.max_length_after(10), 30);
  EXPECT_EQ(c.max_length_after(0), 39);
  EXPECT_EQ(c.early_stopping, "true");
  EXPECT_EQ(c.never_in_a_row, (std::vector<Ids>{{3}, {4, 5}}));
  EXPECT_NE(notes.find("some_new_key"), std::string::npos);
  EXPECT_EQ(notes.find("cache"), std::string::npos);
  write_generation_config(folder, c);
  const GenerationConfig again = read_generation_config(folder);
  EXPECT_EQ(again.max_length_after(10), 30);
  EXPECT_EQ(again.end_ids, c.end_ids);
  EXPECT_EQ(again.top_k, 50);
  write_text(folder / "generation_config.json", R"({"max_new_tokens": 30, "max_length": 30, "min_new_tokens": 4})");
  EXPECT_EQ(read_generation_config(folder).max_length_after(10), 30);
  EXPECT_EQ(read_generation_config(folder).min_length_after(10), 4);
  write_text(folder / "generation_config.json", R"({"beam_size": 3})");
  EXPECT_THROW(read_generation_config(folder), Error);
  std::filesystem::remove_all(folder);
}

TEST(Chat, GoesOnFromWhatItHasRead) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fovea_chat";
  std::filesystem::create_directories(folder);
  Pretrained model = {folder, small_model(-1), std::make_unique<Bytes>()};
  EXPECT_THROW(Chat{model}, Error);
  write_text(folder / "chat_template.jinja", "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}\n{% endfor %}a:");
  Chat chat(model, "Be brief.");
  EXPECT_EQ(chat.prompt(), "s:Be brief.\na:");
  chat.say("Hi", {.max_length = 4});
  EXPECT_EQ(chat.messages().size(), 3u);
  EXPECT_EQ(chat.messages()[2].role, "assistant");
  chat.clear();
  EXPECT_EQ(chat.messages().size(), 1u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea
