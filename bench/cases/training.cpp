// Whole training steps (forward, cross-entropy, backward, clipping, AdamW) of three small models, as tokens/s. The share
// counts the multiply-adds of the products and of attention, three times: forward, and towards inputs and weights; it is of the peak
// of f32 also where products are in bf16.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/transformer.h"
#include "fovea/tensor/loss.h"
#include "fovea/train/optimiser.h"

namespace fovea::benches {
namespace {

Tensor random_ids(int64_t batch, int64_t tokens, int64_t vocabulary, uint64_t seed) {
  Tensor ids({batch, tokens}, DType::i64);
  Random random(seed);
  for (int64_t i = 0; i < batch * tokens; ++i)
    ids.data<int64_t>()[i] = 3 + static_cast<int64_t>(random.uniform(static_cast<uint64_t>(i)) * (vocabulary - 3));
  return ids;
}

// Multiply-adds of a token's forward pass → operations of a step.
double operations(double multiply_adds, int64_t tokens) { return 3 * 2 * multiply_adds * static_cast<double>(tokens); }

// A model that translates 64 sentences of 16 tokens, each side of its own vocabulary's size.
struct Case {
  const char* name;
  double dropout = 0, multiply_adds = 0;
  Precision precision = Precision::f32;
};
template <class Model>
void translation(Bencher& b, typename Model::Config config, const Case& c) {
  const int64_t batch = 64, tokens = 16;
  config.vocabulary = 8000;
  Model model(config);
  initialise(model, Random(1));
  for_each_weight(model, [&](const std::string&, Weight& w, const Init&) { w.multiply_in(c.precision); });
  Optimiser optimiser({.learning_rate = 1e-4}, list_weights(model));
  const Tensor source = random_ids(batch, tokens, config.vocabulary, 1);
  const Tensor inputs = random_ids(batch, tokens, config.vocabulary, 2);
  const Tensor targets = random_ids(batch, tokens, config.vocabulary, 3);
  const Random random(4);
  uint64_t step = 0;
  b.tokens(c.name,
           fmt::format("batch={} tokens={} vocabulary=8000 dropout={}{}", batch, tokens, c.dropout,
                       c.precision == Precision::bf16 ? " bf16" : ""),
           {batch * tokens, operations(c.multiply_adds, batch * tokens)}, [&] {
             const Context context = {.training = true, .random = random.fork(step++)};
             cross_entropy(model.logits({.ids = source}, inputs, context), targets).backward();
             optimiser.step({});
           });
}

// Words, a layer of LSTMs in both directions, and a linear layer that names the tag.
struct Tagger {
  Embedding words{{.entries = 20000, .width = 100}};
  Lstm lstm{{.inputs = 100, .width = 128, .bidirectional = true}};
  Linear tags{{.inputs = 256, .outputs = 9}};

  void weights(Weights& w) { w("words", words), w("lstm", lstm), w("tags", tags); }
};

void tagging(Bencher& b) {
  const int64_t batch = 32, tokens = 32;
  Tagger model;
  initialise(model, Random(1));
  Optimiser optimiser({.learning_rate = 1e-4}, list_weights(model));
  const Tensor ids = random_ids(batch, tokens, 20000, 1), targets = random_ids(batch, tokens, 9, 2);
  const double multiply_adds = 2 * 4 * 128 * (100 + 128) + 256 * 9;
  b.tokens("train_tagger", "batch=32 tokens=32 vocabulary=20000",
           {batch * tokens, operations(multiply_adds, batch * tokens)}, [&] {
             const Context context = {.training = true};
             const Tensor states = model.lstm(model.words(ids), context).outputs;
             cross_entropy(model.tags(states), targets).backward();
             optimiser.step({});
           });
}

}  // namespace

extern const Bench training = {
    .name = "training", .help = "whole training steps of small models", .run = [](Bencher& b) {
      const double width = 256, hidden = 1024, tokens = 16, vocabulary = 8000;
      const double attention = 4 * width * width + 2 * tokens * width, forward = 2 * width * hidden;
      Transformer::Config small = {
          .encoder_layers = 3, .decoder_layers = 3, .stack = {.width = 256, .heads = 4, .hidden = 1024}};
      const double multiply_adds = 3 * (attention + forward) + 3 * (2 * attention + forward) + width * vocabulary;
      for (Precision precision : {Precision::f32, Precision::bf16}) {
        for (double dropout : {0.1, 0.0}) {
          small.stack.dropout = dropout;
          translation<Transformer>(b, small, {"train_transformer", dropout, multiply_adds, precision});
        }
      }
      const double memory = 512, state = 512, embedding = 256;
      const double recurrent = 2 * 4 * 256 * (embedding + 256) + memory * state +
                               2 * memory * state +                                        // encoder, bridges
                               4 * state * (embedding + memory + state) + state * state +  // cell, query
                               2 * tokens * state + (state + memory + embedding) * state + state * vocabulary;
      for (Precision precision : {Precision::f32, Precision::bf16})
        translation<Seq2Seq>(b, {}, {"train_bahdanau", 0, recurrent, precision});
      tagging(b);
    }};

}  // namespace fovea::benches
