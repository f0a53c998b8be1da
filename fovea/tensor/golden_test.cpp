// The operations against numbers that PyTorch computed (tests/golden/make_ops.py).
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/tensor/activation.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/index.h"
#include "fovea/tensor/loss.h"
#include "fovea/tensor/matmul.h"
#include "fovea/tensor/norm.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/softmax.h"
#include "test_paths.h"

namespace fovea {
namespace {

using Json = nlohmann::json;
using GoldenOperation = std::function<Tensor(const Inputs&, const Tensor& index)>;

const std::map<std::string, GoldenOperation>& operations() {
  using In = const Inputs&;
  using At = const Tensor&;
  static const std::map<std::string, GoldenOperation> all = {
      {"layer_norm", [](In x, At) { return layer_norm(x[0], x[1], x[2], 1e-5); }},
      {"rms_norm", [](In x, At) { return rms_norm(x[0], x[1], 1e-6); }},
      {"softmax", [](In x, At) { return softmax(x[0]); }},
      {"log_softmax", [](In x, At) { return log_softmax(x[0]); }},
      {"log_sum_exp", [](In x, At) { return log_sum_exp(x[0], -1); }},
      {"softmax_first", [](In x, At) { return softmax(x[0], 0); }},
      {"log_softmax_first", [](In x, At) { return log_softmax(x[0], 0); }},
      {"variance", [](In x, At) { return variance(x[0], {-1}); }},
      {"mean_first", [](In x, At) { return mean(x[0], {0}); }},
      {"max", [](In x, At) { return max(x[0], -1); }},
      {"min", [](In x, At) { return min(x[0], 0); }},
      {"relu", [](In x, At) { return relu(x[0]); }},
      {"gelu", [](In x, At) { return gelu(x[0]); }},
      {"gelu_tanh", [](In x, At) { return gelu_tanh(x[0]); }},
      {"silu", [](In x, At) { return silu(x[0]); }},
      {"tanh", [](In x, At) { return tanh(x[0]); }},
      {"sigmoid", [](In x, At) { return sigmoid(x[0]); }},
      {"matmul", [](In x, At) { return matmul(x[0], x[1]); }},
      {"linear", [](In x, At) { return linear(x[0], x[1], x[2]); }},
      {"cross_entropy", [](In x, At t) { return cross_entropy(x[0], t); }},
      {"cross_entropy_smoothed", [](In x, At t) { return cross_entropy(x[0], t, {.smoothing = 0.1}); }},
      {"cross_entropy_sum",
       [](In x, At t) { return cross_entropy(x[0], t, {.smoothing = 0.1, .reduction = Reduction::sum}); }},
      {"cross_entropy_none",
       [](In x, At t) { return cross_entropy(x[0], t, {.smoothing = 0.3, .reduction = Reduction::none}); }},
      {"gather", [](In x, At i) { return gather(x[0], 1, i); }},
      {"gather_first", [](In x, At i) { return gather(x[0], 0, i); }},
      {"scatter_add", [](In x, At i) { return scatter_add(x[0], 1, i, x[1]); }},
      {"embedding", [](In x, At i) { return rows(x[0], i); }},
      {"concat", [](In x, At) { return concat(x, 1); }},
      {"stack", [](In x, At) { return stack(x, -1); }},
      {"where", [](In x, At i) { return where(i.to(DType::i8), x[0], x[1]); }},
      {"maximum", [](In x, At) { return maximum(x[0], x[1]); }},
      {"divide", [](In x, At) { return x[0] / x[1]; }},
  };
  return all;
}

Shape shape_of(const Json& json) {
  Shape shape;
  for (int64_t size : json.at("shape")) shape.push_back(size);
  return shape;
}

Tensor read(const Json& json) { return tensor(shape_of(json), json.at("values").get<std::vector<double>>()); }

void check_case(const Json& golden, DType type, double tolerance) {
  using gradient_check::expect_near;
  Inputs inputs;
  for (const Json& x : golden.at("inputs")) inputs.push_back(read(x).to(type).require_gradient());
  Tensor index;
  if (const Json& i = golden.at("index"); !i.is_null())
    index = tensor(shape_of(i), i.at("values").get<std::vector<int64_t>>());
  const Tensor y = operations().at(golden.at("op"))(inputs, index);
  expect_near(y, read(golden.at("output")), tolerance, "result");
  y.backward(read(golden.at("seed")).to(type));
  for (size_t i = 0; i < inputs.size(); ++i)
    expect_near(inputs[i].gradient(), read(golden.at("gradients")[i]), tolerance, "gradient " + std::to_string(i));
}

TEST(Golden, OperationsAgreeWithPyTorch) {
  std::ifstream file(std::string(test_data) + "/golden/ops.json");
  const Json golden = Json::parse(file);
  std::set<std::string> seen;
  for (const Json& one : golden.at("cases")) {
    SCOPED_TRACE(one.at("op").get<std::string>() + " " + shape_of(one.at("inputs")[0]).text());
    seen.insert(one.at("op"));
    // The options are float: a smoothing of 0.1 is 1.5e-9 away from PyTorch's.
    check_case(one, DType::f64, 1e-7);
    check_case(one, DType::f32, 2e-5);
  }
  EXPECT_EQ(seen.size(), operations().size());
}

}  // namespace
}  // namespace fovea
