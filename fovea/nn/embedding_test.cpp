#include "fovea/nn/embedding.h"

#include "fovea/nn/golden.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

TEST(Embedding, EqualsPyTorchAndPaddingLearnsNothing) {
  auto make = [] { return Embedding({.entries = 6, .width = 4, .padding = 1}); };
  check_golden("embedding", make, [](const Embedding& m, In x) { return m(x.at("ids")); });
}

TEST(Embedding, TiedOutputAddsUpBothGradients) {
  // f = Σ (E[id] Eᵀ): by hand for one id, dE[r] = Σ_j E[j] (if r is the id) + E[id].
  Embedding words({.entries = 3, .width = 2});
  load(words, {{"weight", tensor({3, 2}, std::vector<float>{1, 2, 3, 5, 7, 11})}});
  require_gradients(words);
  Tensor logits = words.as_output(words(tensor({1}, std::vector<int64_t>{1})));
  EXPECT_EQ(logits.values<float>(), (std::vector<float>{13, 34, 76}));
  sum(logits).backward();
  EXPECT_EQ(words.weight()->gradient().values<float>(), (std::vector<float>{3, 5, 3 + 11, 5 + 18, 3, 5}));
}

TEST(Embedding, PaddingBeginsAsZeros) {
  Embedding words({.entries = 50, .width = 64, .padding = 3});
  initialise(words, Random(7));
  const std::vector<double> v = words.weight()->values<double>();
  double squares = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    if (i / 64 == 3) {
      EXPECT_EQ(v[i], 0);
    }
    squares += v[i] * v[i];
  }
  EXPECT_NEAR(squares / 49, 1, 0.1);  // a vector's length
}

TEST(Embedding, RefusesWhatIsNotAnEntry) {
  Embedding words({.entries = 3, .width = 2});
  EXPECT_THROW(words(tensor({1}, std::vector<int64_t>{3})), Error);
  EXPECT_THROW(words(tensor({1}, std::vector<int64_t>{-1})), Error);
  EXPECT_THROW(Embedding({.entries = 3, .width = 2, .padding = 3}), Error);
}

}  // namespace
}  // namespace fovea
