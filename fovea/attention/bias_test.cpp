// The buckets and slopes against those of Transformers (tests/golden/make_nn.py).
#include "fovea/attention/bias.h"

#include "fovea/nn/golden.h"

namespace fovea {
namespace {

TEST(Bias, BucketsEqualT5s) {
  for (bool bidirectional : {true, false}) {
    for (auto [buckets, farthest] : {std::pair<int64_t, int64_t>{32, 128}, {8, 20}}) {
      const std::string key = std::string("buckets_") + (bidirectional ? "two_" : "one_") + std::to_string(buckets) +
                              "_" + std::to_string(farthest);
      const std::vector<int64_t> expected = golden_file()[key].values<int64_t>();
      ASSERT_EQ(expected.size(), 601u);
      const RelativeBuckets relative = {.bidirectional = bidirectional, .farthest = farthest};
      for (int64_t d = -300; d <= 300; ++d)
        EXPECT_EQ(relative.bucket(d, buckets), expected[static_cast<size_t>(d + 300)]) << key << " at " << d;
    }
  }
}

TEST(Bias, SlopesEqualBlooms) {
  for (int64_t heads : {1, 2, 8, 12, 20}) {
    const std::string key = "alibi_" + std::to_string(heads);
    gradient_check::expect_near(alibi_slopes(heads), golden_file()[key], 1e-6, key);
  }
}

}  // namespace
}  // namespace fovea
