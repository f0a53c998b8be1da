// For tests of models that give labels: PyTorch's numbers (tests/golden/make_taggers.py), finite differences, and same bits.
//
//   check_label_golden("tagger_plain", [] { return WordTagger(config); }, scores, loss);
//   check_weight_gradients(model, [&] { return model.loss(input, labels, {}); });
#pragma once

#include <memory>

#include "fovea/models/abilities.h"
#include "fovea/nn/golden.h"
#include "test_paths.h"

namespace fovea {

inline const SafeTensors& label_golden_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "taggers.safetensors");
  return file;
}

// Scores, loss and all gradients, in f32 on every instruction set and in f64.
template <class Make, class Scores, class Loss>
void check_label_golden(const std::string& name, Make make, Scores scores, Loss loss) {
  SCOPED_TRACE(name);
  const SafeTensors& file = label_golden_file();
  for_each_arithmetic([&](DType type) {
    const double allowed = type == DType::f64 ? 1e-6 : 1e-5;
    auto model = make();
    load(model, golden(file, name + ".weight."));
    convert(model, type);
    require_gradients(model);
    gradient_check::expect_near(scores(model), file[name + ".scores"], allowed, "scores");
    const Tensor found = loss(model);
    EXPECT_NEAR(found.item(), file[name + ".loss"].item(), 4 * allowed);
    found.backward();
    size_t weights = 0;
    for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
      const Tensor gradient = w.gradient() ? w.gradient() : zeros(w.shape());
      gradient_check::expect_near(gradient, file[name + ".gradient." + path], allowed, "gradient of " + path);
      ++weights;
    });
    EXPECT_EQ(weights, golden(file, name + ".gradient.").size());
  });
}

// Every weight random, biases too, and large enough that the outputs differ clearly.
template <Module M>
void randomise(M& model, uint64_t seed = 7) {
  initialise(model, Random(seed));
  for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init& init) {
    if (init.kind == Init::zeros) w.copy_from(normal(w.shape(), Random(seed + 1).fork(path), 0, 0.3));
  });
}

// Of a model in f64: the gradient of each number of each weight against central differences.
template <Module M>
void check_weight_gradients(M& model, const std::function<Tensor()>& loss) {
  require_gradients(model);
  loss().backward();
  std::map<std::string, std::vector<double>> gradients;
  for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init&) {
    gradients[path] = (w.gradient() ? w.gradient() : zeros(w.shape(), w.dtype())).template values<double>();
    w = w.detach();
  });
  for_each_tensor(model, [&](const std::string& path, Tensor& w, const Init& init) {
    for (int64_t i = 0; i < w.elements(); ++i) {
      if (init.zero_row >= 0 && i / w.size(1) == init.zero_row) continue;  // padding learns nothing
      double& number = w.data<double>()[i];
      const double before = number, step = 1e-5;
      number = before + step;
      const double above = loss().item();
      number = before - step;
      const double numeric = (above - loss().item()) / (2 * step);
      number = before;
      ASSERT_NEAR(gradients[path][static_cast<size_t>(i)], numeric, 2e-7 * (1 + std::abs(numeric)))
          << path << " at " << i;
    }
  });
}

// Ids from `low` to low + count − 1.
inline Tensor random_ids(const Shape& shape, int64_t low, int64_t count, uint64_t seed) {
  Tensor t(shape, DType::i64);
  for (int64_t i = 0; i < t.elements(); ++i)
    t.data<int64_t>()[i] =
        low + static_cast<int64_t>(Random(seed).below(static_cast<uint64_t>(count), static_cast<uint64_t>(i)));
  return t;
}

// Texts of 7, 1, 17, 0 and 5 tokens; beyond the lengths stands what would be an error elsewhere.
struct LabelledTexts {
  std::vector<int64_t> lengths = {7, 1, 17, 0, 5};
  Source source = {random_ids({5, 17}, 3, 30, 1), tensor({5}, lengths)};
  Tensor labels = tensor({5}, std::vector<int64_t>{0, 3, 1, 2, 1});

  LabelledTexts() {
    for (int64_t b = 0; b < 5; ++b) source.ids.select(0, b).slice(0, lengths[static_cast<size_t>(b)], 17).fill(999);
  }
  Source alone(int64_t b) const {
    return {source.ids.slice(0, b, b + 1).slice(1, 0, lengths[static_cast<size_t>(b)]).contiguous(), {}};
  }
};

inline std::filesystem::path fresh_model_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("fovea_labels_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

}  // namespace fovea
