// For tests: small models of every kind, and the numbers that PyTorch computed (tests/golden/make_models.py).
//
//   check_model_golden("transformer_post", [] { return Transformer(config); });
//   for (const SmallModel& m : small_models()) { auto model = m.make(); … }
#pragma once

#include <memory>

#include "fovea/models/seq2seq.h"
#include "fovea/models/transformer.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/loss.h"
#include "test_paths.h"

namespace fovea {

inline const SafeTensors& model_golden_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "models.safetensors");
  return file;
}

// Logits, loss and all gradients, in f32 on every instruction set and in f64.
template <class Make>
void check_model_golden(const std::string& name, Make make, const Context& context = {}) {
  SCOPED_TRACE(name);
  const SafeTensors& file = model_golden_file();
  for_each_arithmetic([&](DType type) {
    const double allowed = type == DType::f64 ? 1e-6 : 1e-5;
    auto model = make();
    load(model, golden(file, name + ".weight."));
    convert(model, type);
    require_gradients(model);
    const Source source = {file["source"], file["lengths"]};
    const Tensor logits = model.logits(source, file["inputs"], context);
    gradient_check::expect_near(logits, file[name + ".logits"], allowed, "logits");
    const Tensor loss = model.loss(source, file["inputs"], file["targets"], {.ignored = 0}, context);
    EXPECT_NEAR(loss.item(), file[name + ".loss"].item(), allowed);
    loss.backward();
    size_t weights = 0;
    for_each_weight(model, [&](const std::string& path, Tensor& w, const Init&) {
      ASSERT_TRUE(w.gradient()) << path;
      gradient_check::expect_near(w.gradient(), file[name + ".gradient." + path], allowed, "gradient of " + path);
      ++weights;
    });
    EXPECT_EQ(weights, golden(file, name + ".gradient.").size());
  });
}

struct SmallModel {
  std::string name;
  std::function<std::unique_ptr<Seq2SeqModel>()> make;

  friend void PrintTo(const SmallModel& model, std::ostream* out) { *out << model.name; }
};

// Every weight random, biases too, and large enough that the outputs differ clearly.
template <class M>
SmallModel small_model(const std::string& name, const typename M::Config& config) {
  return {name, [config]() -> std::unique_ptr<Seq2SeqModel> {
            auto model = std::make_unique<M>(config);
            initialise(*model, Random(7));
            for_each_weight(*model, [](const std::string& path, Tensor& w, const Init& init) {
              if (init.kind == Init::zeros) w.copy_from(normal(w.shape(), Random(8).fork(path), 0, 0.3));
            });
            return model;
          }};
}

// Vocabulary of 11: padding 0, start 1, end 2.
inline std::vector<SmallModel> small_models() {
  std::vector<SmallModel> models;
  const Transformer::Config t = {
      .vocabulary = 11, .width = 24, .heads = 3, .hidden = 33, .encoder_layers = 2, .decoder_layers = 2};
  for (const std::string norm : {"post", "pre"}) {
    for (const std::string positions : {"sinusoidal", "learned", "rotary"}) {
      Transformer::Config c = t;
      c.norm = norm, c.positions = positions, c.longest = 40, c.dropout = 0;
      c.tied = norm == "post", c.gated = positions == "rotary", c.activation = c.gated ? "silu" : "relu";
      models.push_back(small_model<Transformer>("transformer_" + norm + "_" + positions, c));
    }
  }
  for (const std::string attention : {"additive", "dot", "general", "concat", "scaled-dot", "none"}) {
    for (const std::string order : {"bahdanau", "luong"}) {
      Seq2Seq::Config c = {.vocabulary = 11, .embedding = 9, .encoder_width = 10, .decoder_width = 20};
      c.attention = attention, c.order = order, c.cell = order == "luong" ? "lstm" : "gru";
      c.attention_width = attention == "additive" ? 17 : 0;
      if (attention == "general") c.decoder_layers = 2, c.encoder_layers = 2;
      if (attention == "dot") c.input_feeding = false, c.tied = true;
      std::string name = "seq2seq_" + attention + "_" + order;
      std::replace(name.begin(), name.end(), '-', '_');
      models.push_back(small_model<Seq2Seq>(name, c));
      if (attention != "additive" && attention != "scaled-dot") continue;
      c.coverage = true;
      models.push_back(small_model<Seq2Seq>(name + "_coverage", c));
      c.coverage = false, c.selection = "hard";
      models.push_back(small_model<Seq2Seq>(name + "_hard", c));
    }
  }
  return models;
}

}  // namespace fovea
