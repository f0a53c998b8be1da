#include "fovea/models/long_reader.h"

#include <gtest/gtest.h>

#include "fovea/models/variants.h"
#include "fovea/nn/golden.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

// 300 tokens where there are as many positions: more than are taken at a time.
TEST(LongReader, SomeLogitsAtATimeHaveTheBitsOfAll) {
  size_t readers = 0, long_ones = 0;
  for (const Variant& v : variants([](const Abilities& a) { return a.generates; })) {
    const std::unique_ptr<Model> model = v.make();
    const auto* reader = can<LongReader>(*model);
    if (!reader) continue;
    SCOPED_TRACE(v.name);
    const int64_t most = as<Generator>(*model).longest(), count = most > 0 && most < 300 ? most : 300;
    ++readers, long_ones += count == 300 ? 1 : 0;
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < count; ++i) ids.push_back(i * 7 % 11);
    const Tensor row = tensor({1, count}, ids), all = as<Generator>(*model).logits({}, row, {}).select(0, 0);
    int64_t seen = 0;
    reader->each_logits(row, {}, [&](int64_t begin, const Tensor& some) {
      EXPECT_EQ(begin, seen);
      EXPECT_LT(some.size(0), 300);
      EXPECT_TRUE(same_bits(some.contiguous(), all.slice(0, begin, begin + some.size(0)).contiguous()));
      seen += some.size(0);
    });
    EXPECT_EQ(seen, count);
    EXPECT_THROW(reader->each_logits(tensor({2, 1}, std::vector<int64_t>{1, 2}), {}, {}), Error);
  }
  EXPECT_GT(readers, 0u);
  EXPECT_GT(long_ones, 0u);
}

}  // namespace
}  // namespace fovea
