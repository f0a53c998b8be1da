// Whole training steps (forward, cross-entropy, backward, clipping, AdamW) of language models, as tokens/s: nanoGPT's character model
// for CPUs, and GPT-2 of 124 M weights. The share counts multiply-adds as training.cpp
// does, of the peak of f32 also where products are in bf16.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/models/family.h"
#include "fovea/tensor/loss.h"
#include "fovea/train/optimiser.h"

namespace fovea::benches {
namespace {

struct Gpt {
  int64_t batch, tokens, vocabulary, width, layers, heads;
};

Tensor random_ids(const Gpt& g, uint64_t seed) {
  Tensor ids({g.batch, g.tokens}, DType::i64);
  const Random random(seed);
  for (int64_t i = 0; i < g.batch * g.tokens; ++i)
    ids.data<int64_t>()[i] =
        static_cast<int64_t>(random.below(static_cast<uint64_t>(g.vocabulary), static_cast<uint64_t>(i)));
  return ids;
}

void measure(Bencher& b, const char* name, const Gpt& g, Precision precision) {
  const auto config = find<Family>("gpt2").config();
  from_json(
      fmt::format(R"({{"vocab_size": {}, "n_positions": {}, "n_embd": {}, "n_layer": {}, "n_head": {}, "resid_pdrop": 0,
                             "embd_pdrop": 0, "attn_pdrop": 0, "bos_token_id": 0, "eos_token_id": 0}})",
                  g.vocabulary, g.tokens, g.width, g.layers, g.heads),
      *config, name);
  const std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(1));
  for_each_weight(*model, [&](const std::string&, Weight& w, const Init&) { w.multiply_in(precision); });
  Optimiser optimiser({.learning_rate = 1e-4}, list_weights(*model));
  const Tensor inputs = random_ids(g, 2), targets = random_ids(g, 3);
  const auto width = static_cast<double>(g.width);
  const double multiply_adds =
      static_cast<double>(g.layers) * (12 * width * width + static_cast<double>(g.tokens) * width) +
      width * static_cast<double>(g.vocabulary);
  const int64_t count = g.batch * g.tokens;
  b.tokens(name,
           fmt::format("batch={} tokens={} width={} layers={}{}", g.batch, g.tokens, g.width, g.layers,
                       precision == Precision::bf16 ? " bf16" : ""),
           {count, 3 * 2 * multiply_adds * static_cast<double>(count)}, [&] {
             as<Generator>(*model).loss({}, inputs, targets, {}, {.training = true}).backward();
             optimiser.step({});
           });
}

}  // namespace

extern const Bench language = {
    .name = "language", .help = "whole training steps of GPTs", .run = [](Bencher& b) {
      for (Precision precision : {Precision::f32, Precision::bf16}) {
        measure(b, "train_characters",
                {.batch = 12, .tokens = 64, .vocabulary = 65, .width = 128, .layers = 4, .heads = 4}, precision);
        measure(b, "train_gpt2",
                {.batch = 1, .tokens = 512, .vocabulary = 50257, .width = 768, .layers = 12, .heads = 12}, precision);
      }
    }};

}  // namespace fovea::benches
