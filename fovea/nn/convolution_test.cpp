#include "fovea/nn/convolution.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

const std::map<std::string, ConvolutionConfig>& configs() {
  static const std::map<std::string, ConvolutionConfig> all = {
      {"plain", {.kernel = 3}},
      {"strided", {.kernel = 3, .stride = 2, .padding = 1}},
      {"dilated", {.kernel = 2, .padding = 2, .dilation = 3}},
      {"grouped", {.kernel = 3, .padding = 4, .groups = 2, .bias = false}},
      {"sparse", {.kernel = 2, .stride = 3}},
  };
  return all;
}

TEST(Convolution, EqualsPyTorch) {
  for (auto [name, config] : configs()) {
    config.inputs = 4, config.outputs = 6;
    const ConvolutionConfig c = config;
    check_golden(
        "conv1d_" + name, [&] { return Conv1d(c); }, [](const Conv1d& m, In x) { return m(x.at("x")); });
    check_golden(
        "conv2d_" + name, [&] { return Conv2d(c); }, [](const Conv2d& m, In x) { return m(x.at("x")); });
  }
}

TEST(Convolution, SaysWhatDoesNotFit) {
  EXPECT_THROW(Conv1d({.inputs = 3, .outputs = 4, .groups = 2}), Error);
  EXPECT_THROW(Conv1d({.inputs = 3, .outputs = 4, .stride = 0}), Error);
  Conv1d conv({.inputs = 3, .outputs = 4, .kernel = 5});
  initialise(conv, Random(1));
  EXPECT_NE(error_of([&] { conv(zeros({1, 3, 4})); }).find("fits nowhere"), std::string::npos);
  EXPECT_NE(error_of([&] { conv(zeros({1, 2, 9})); }).find("[batch, 3, length]"), std::string::npos);
}

}  // namespace
}  // namespace fovea
