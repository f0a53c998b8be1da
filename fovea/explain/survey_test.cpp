#include "fovea/explain/survey.h"

#include <gtest/gtest.h>

#include "fovea/data/text/words.h"
#include "fovea/explain/difference.h"
#include "fovea/explain/given.h"
#include "fovea/models/families/transformer.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/norm.h"

namespace fovea {
namespace {

constexpr int64_t positions = 64;

Words forty_words() {
  return Words::train(
      [left = 36](std::string& text) mutable {
        text = "w" + std::to_string(left) + "x";
        return left-- > 0;
      },
      {.vocabulary = 40});
}

std::unique_ptr<Model> gpt2(int64_t vocabulary, int64_t width) {
  const std::unique_ptr<ModelConfig> config = find<Family>("gpt2").config();
  from_json(fmt::format(R"({{"vocab_size": {}, "n_positions": {}, "n_embd": {}, "n_layer": 2, "n_head": 1, "n_inner": 4,
                            "bos_token_id": 1, "eos_token_id": 2}})",
                        vocabulary, positions, width),
            *config, "");
  return config->make();
}

// The smallest circuit of induction (Elhage et al. 2021): a state has room for a token, its position, and the token before it. The
// first layer's head looks one position back and writes what stood there; the second looks for its own token among these.
std::unique_ptr<Model> induction_model(int64_t vocabulary) {
  const int64_t width = 2 * vocabulary + positions, at_position = vocabulary, at_before = vocabulary + positions;
  std::unique_ptr<Model> model = gpt2(vocabulary, width);
  for_each_tensor(*model, [&](const std::string& path, Tensor& w, const Init& init) {
    w = init.kind == Init::ones ? ones(w.shape()) : zeros(w.shape());
    float* to = w.data<float>();
    const auto set = [&](int64_t row, int64_t column, float value) { to[row * w.size(1) + column] = value; };
    constexpr float sharp = 12;
    if (path == "transformer.wte.weight")
      for (int64_t i = 0; i < vocabulary; ++i) set(i, i, 1);
    if (path == "transformer.wpe.weight")
      for (int64_t i = 0; i < positions; ++i) set(i, at_position + i, 1);
    if (path == "transformer.h.0.attn.c_attn.weight") {  // [queries, keys, values; width]
      for (int64_t i = 1; i < positions; ++i) set(at_position + i - 1, at_position + i, sharp);
      for (int64_t i = 0; i < positions; ++i) set(width + at_position + i, at_position + i, sharp);
      for (int64_t i = 0; i < vocabulary; ++i) set(2 * width + at_before + i, i, 1);
    }
    if (path == "transformer.h.1.attn.c_attn.weight") {
      for (int64_t i = 0; i < vocabulary; ++i) set(i, i, sharp), set(width + i, at_before + i, sharp);
    }
    if (path == "transformer.h.0.attn.c_proj.weight")
      for (int64_t i = 0; i < width; ++i) set(i, i, 1);
  });
  return model;
}

TEST(Survey, FindsTheHeadsOfAnInductionModelBuiltByHand) {
  Pretrained p = {"", nullptr, std::make_unique<Words>(forty_words())};
  p.model = induction_model(p.tokenizer->size());
  const std::vector<HeadMeasure> heads = measure_heads(p, {{"w3x w7x w9x w11x w20x w1x w5x"}});
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0].name, "previous token") << heads[0][LookedAt::previous].weight;
  EXPECT_EQ(heads[1].name, "induction") << heads[1].repeated_induction.weight;
  EXPECT_GT(heads[1].repeated_induction.weight, 0.9);
  EXPECT_LT(heads[0].repeated_induction.weight, 0.1);
}

// What a layer is given is the residual stream: the embeddings before the first, and what the last norm and the output make the
// logits from.
TEST(LayerStates, AreTheResidualStream) {
  const Words words = forty_words();
  const std::unique_ptr<Model> model = gpt2(words.size(), 8);
  initialise(*model, Random(4));
  NamedTensors w = save(*model);
  LayerStates states(*model);
  const Tensor ids = tensor({1, 3}, std::vector<int64_t>{7, 9, 11});
  Tensor logits;
  {
    Watched watched(&states);
    logits = as<Generator>(*model).logits({}, ids, {});
  }
  std::map<std::string, Tensor> by_layer;
  for (const LayerState& s : states.layers()) by_layer[s.layer] = s.calls[0];
  const std::vector<double> first = by_layer.at("transformer.h.0").values<double>();
  const std::vector<double> tokens = w.at("transformer.wte.weight").values<double>();
  const std::vector<double> places = w.at("transformer.wpe.weight").values<double>();
  for (size_t d = 0; d < 8; ++d) EXPECT_NEAR(first[8 + d], tokens[9 * 8 + d] + places[8 + d], 1e-6);
  const Tensor normed =
      layer_norm(by_layer.at("transformer.ln_f"), w.at("transformer.ln_f.weight"), w.at("transformer.ln_f.bias"), 1e-5);
  const std::vector<double> expected = linear(normed, w.at("transformer.wte.weight")).values<double>();
  const std::vector<double> found = logits.values<double>();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  EXPECT_EQ(states.attention_outputs().size(), 2u);
}

Pretrained translator(int64_t changed_layer) {
  Pretrained p = {"", nullptr, std::make_unique<Words>(forty_words())};
  auto model = std::make_unique<Transformer>(Transformer::Config{.vocabulary = p.tokenizer->size(),
                                                                 .encoder_layers = 3,
                                                                 .decoder_layers = 1,
                                                                 .stack = {.width = 16, .heads = 2, .hidden = 16}});
  initialise(*model, Random(5));
  for_each_tensor(*model, [&](const std::string& path, Tensor& w, const Init&) {
    if (changed_layer >= 0 && path.find("." + std::to_string(changed_layer) + ".feed_forward") != std::string::npos &&
        path.starts_with("encoder"))
      w = w * 1.5;
  });
  p.model = std::move(model);
  return p;
}

TEST(ModelDifference, AModelDoesNotDepartFromItself) {
  const Pretrained a = translator(-1), b = translator(-1);
  ModelDifference difference(a, b);
  difference.add("w3x w7x w9x");
  const DifferenceReport r = difference.report();
  EXPECT_EQ(r.compared, 1);
  EXPECT_TRUE(r.changed.empty());
  EXPECT_EQ(r.first_layer, "");
  ASSERT_FALSE(r.layers.empty());
  for (const LayerDifference& l : r.layers) EXPECT_EQ(l.state.largest, 0) << l.layer;
  ASSERT_EQ(r.heads.size(), 10u);
  for (const HeadDifference& h : r.heads) EXPECT_EQ(h.kl + h.largest + h.output.largest, 0) << h.place;
}

// A change of the second layer's feed-forward is seen by the third layer first, and by its heads.
TEST(ModelDifference, TheFirstLayerThatPartsIsTheOneBehindTheChange) {
  const Pretrained a = translator(-1), b = translator(1);
  ModelDifference difference(a, b);
  difference.add("w3x w7x w9x w20x");
  const DifferenceReport r = difference.report();
  EXPECT_TRUE(r.first_layer.starts_with("encoder") && r.first_layer.ends_with("2")) << r.first_layer;
  for (const HeadDifference& h : r.heads) {
    const bool before = h.place != "encoder.2.self" && h.place != "decoder.0.cross";
    EXPECT_EQ(h.kl == 0 && h.output.largest == 0, before) << h.place;
  }
}

TEST(ModelDifference, IsToldAsTextAndJson) {
  const Pretrained a = translator(-1), b = translator(0);
  ModelDifference difference(a, b);
  difference.add("w3x w7x");
  const DifferenceReport r = difference.report();
  EXPECT_NE(to_text(r, 0.01).find("encoder.1.self"), std::string::npos);
  EXPECT_NE(to_json(r).find("\"kl\""), std::string::npos);
}

TEST(Given, APairIsToldTokenByToken) {
  const Pretrained p = translator(-1);
  const Recording seen = record_pair(*p.model, *p.tokenizer, "w3x w7x", "w9x w20x w1x");
  EXPECT_EQ(seen.sequences.at("target").size(), 4u);
  EXPECT_EQ(seen.sequences.at("prefix").pieces[1], "w9x");
  EXPECT_EQ(seen.at("decoder.0.cross").rows(), 4);
  EXPECT_EQ(seen.at("decoder.0.cross").columns(), 3);
}

}  // namespace
}  // namespace fovea
