// For tests: the numbers that PyTorch computed (tests/golden/make_models.py).
//
//   check_model_golden("transformer_post", [] { return Transformer(config); });
#pragma once

#include <memory>

#include "fovea/models/families/seq2seq.h"
#include "fovea/models/families/transformer.h"
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
    for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
      ASSERT_TRUE(w.gradient()) << path;
      gradient_check::expect_near(w.gradient(), file[name + ".gradient." + path], allowed, "gradient of " + path);
      ++weights;
    });
    EXPECT_EQ(weights, golden(file, name + ".gradient.").size());
  });
}

}  // namespace fovea
