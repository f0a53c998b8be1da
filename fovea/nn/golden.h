// For tests: holds a module to the numbers that PyTorch computed (tests/golden/make_nn.py), values and all gradients, in
// f64 and on every instruction set.
//
//   check_golden("layer_norm", [] { return LayerNorm({.width = 9}); }, [](const auto& m, In x) { return m(x.at("x")); });
#pragma once

#include <cstring>
#include <functional>

#include "fovea/kernels/every_simd.h"
#include "fovea/nn/weights.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "test_paths.h"

namespace fovea {

using In = const NamedTensors&;

inline const SafeTensors& golden_file() {
  static const SafeTensors file(std::filesystem::path(test_data) / "golden" / "nn.safetensors");
  return file;
}

// What a file holds below `prefix`, under its remaining name.
inline NamedTensors golden(const SafeTensors& file, const std::string& prefix) {
  NamedTensors found;
  for (const auto& [name, tensor] : file.tensors())
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = tensor;
  return found;
}
inline NamedTensors golden(const std::string& prefix) { return golden(golden_file(), prefix); }

// The script's numbers().
inline Tensor golden_numbers(const Shape& shape, int64_t seed, double scale = 1) {
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t v = static_cast<uint32_t>(i + 1 + 1000003 * static_cast<uint64_t>(seed)) * 2654435761u;
    v = (v ^ v >> 15) * 2246822519u;
    v ^= v >> 13;
    values[i] = (static_cast<double>(v >> 16) / 32768 - 1) * scale;
  }
  return tensor(shape, values);
}

template <Module M>
void convert(M& module, DType type) {
  for_each_tensor(module, [&](const std::string&, Tensor& w, const Init&) { w = w.to(type); });
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.values<float>(), y = b.values<float>();
  return a.shape() == b.shape() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
}

// f for f32 on every instruction set, and for f64.
inline void for_each_arithmetic(const std::function<void(DType)>& f) {
  for_each_simd([&] { f(DType::f32); });
  SCOPED_TRACE("f64");
  f(DType::f64);
}

// f32 results may differ from the truth by `tolerance`, f64 ones by the rounding of the file.
template <class Make, class Run>
void check_golden(const std::string& name, Make make, Run run, double tolerance = 2e-5) {
  SCOPED_TRACE(name);
  const NamedTensors gradients = golden(name + ".gradient.");
  for_each_arithmetic([&](DType type) {
    const double allowed = type == DType::f64 ? 1e-6 : tolerance;
    auto module = make();
    load(module, golden(name + ".weight."));
    convert(module, type);
    require_gradients(module);
    NamedTensors inputs = golden(name + ".input.");
    for (auto& [key, tensor] : inputs)
      if (tensor.dtype() == DType::f32) tensor = tensor.to(type).clone().require_gradient();
    Tensor y = run(module, inputs);
    gradient_check::expect_near(y, golden_file()[name + ".output"], allowed, "output");
    y.backward(golden_numbers(y.shape(), 99).to(type));
    NamedTensors leaves = inputs;
    for_each_tensor(module, [&](const std::string& path, Tensor& w, const Init&) { leaves[path] = w; });
    for (const auto& [key, gradient] : gradients) {
      ASSERT_TRUE(leaves.count(key)) << key;
      ASSERT_TRUE(leaves[key].gradient()) << key;
      gradient_check::expect_near_in_size(leaves[key].gradient(), gradient, allowed, allowed / 10,
                                          "gradient of " + key);
    }
    EXPECT_FALSE(gradients.empty());
  });
}

}  // namespace fovea
