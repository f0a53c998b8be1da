#include "fovea/kernels/pool.h"

#include <algorithm>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/kernels/every_simd.h"

namespace fovea::kernels {
namespace {

TEST(PoolColumns, GivesTheLargestAndTheSumOfEachColumn) {
  for_each_simd([] {
    for (int64_t rows : {1, 2, 64})
      for (int64_t columns : {1, 15, 16, 37, 256}) {
        const int64_t stride = columns + 3;
        std::vector<float> x;
        for (int64_t i = 0; i < rows * stride; ++i)
          x.push_back(static_cast<float>(Random(1).uniform(static_cast<uint64_t>(i)) - 0.5));
        std::vector<float> largest(static_cast<size_t>(columns)), sums(largest.size());
        pool_columns({rows, columns, stride}, x.data(), largest.data(), sums.data());
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0, most = -1;
          for (int64_t i = 0; i < rows; ++i) {
            const double one = static_cast<double>(x[static_cast<size_t>(i * stride + j)]);
            sum += one, most = std::max(most, one);
          }
          EXPECT_EQ(static_cast<double>(largest[static_cast<size_t>(j)]), most);
          EXPECT_NEAR(static_cast<double>(sums[static_cast<size_t>(j)]), sum, 1e-5);
        }
      }
  });
}

}  // namespace
}  // namespace fovea::kernels
