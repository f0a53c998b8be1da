// Hidden states of BERT in MiniLM's shape (6 layers of width 384, heads of 32): one text of 16 tokens, and 32 of 20 and of 128 at
// once, in each precision. The share counts the multiply-adds of the products and of attention.
#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/models/family.h"

namespace fovea::benches {
namespace {

constexpr int64_t vocabulary = 30522, layers = 6, width = 384, hidden = 1536;

std::unique_ptr<Model> packed_model(Precision precision) {
  const auto config = find<Family>("bert").config();
  from_json(
      fmt::format(R"({{"architectures": ["BertModel"], "vocab_size": {}, "hidden_size": {}, "num_hidden_layers": {},
                             "num_attention_heads": 12, "intermediate_size": {}}})",
                  vocabulary, width, layers, hidden),
      *config, "encoder");
  std::unique_ptr<Model> model = config->make();
  initialise(*model, Random(1));
  for_each_weight(*model, [&](const std::string&, Weight& w, const Init&) { w.bind(w.stored(), precision); });
  return model;
}

void encode(Bencher& b, const Model& model, Precision precision, int64_t texts, int64_t tokens) {
  Tensor ids({texts, tokens}, DType::i64);
  for (int64_t i = 0; i < ids.elements(); ++i)
    ids.data<int64_t>()[i] = static_cast<int64_t>(Random(2).below(vocabulary, static_cast<uint64_t>(i)));
  const auto& encoder = as<Encoder>(model);
  const double multiply_adds = layers * (4.0 * width * width + 2.0 * width * hidden + 2.0 * tokens * width);
  b.product(precision, "encoder", fmt::format("minilm {} texts={} tokens={}", name(precision), texts, tokens),
            2 * multiply_adds * static_cast<double>(texts * tokens), [&] { encoder.encode({.ids = ids}, {}); });
}

}  // namespace

extern const Bench encoder = {
    .name = "encoder", .help = "hidden states of texts in MiniLM's shape", .run = [](Bencher& b) {
      for (Precision precision : {Precision::f32, Precision::bf16, Precision::int8}) {
        const std::unique_ptr<Model> model = packed_model(precision);
        encode(b, *model, precision, 1, 16);
        encode(b, *model, precision, 32, 20);
        encode(b, *model, precision, 32, 128);
      }
    }};

}  // namespace fovea::benches
