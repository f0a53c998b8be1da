#include "fovea/attention/bias.h"

#include <cmath>
#include <cstdlib>

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {

int64_t RelativeBuckets::bucket(int64_t distance, int64_t buckets) const {
  int64_t first = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  } else {
    distance = distance < 0 ? -distance : 0;
  }
  const int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  const double reach = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(farthest) / static_cast<double>(exact));
  return first + std::min(buckets - 1, exact + static_cast<int64_t>(reach * static_cast<double>(buckets - exact)));
}

Tensor alibi_slopes(int64_t heads) {
  std::vector<float> slopes;
  int64_t power = 1;
  while (power * 2 <= heads) power *= 2;
  auto slope = [](double i, int64_t n) { return static_cast<float>(std::exp2(-8 * i / static_cast<double>(n))); };
  for (int64_t i = 1; i <= power; ++i) slopes.push_back(slope(static_cast<double>(i), power));
  for (int64_t i = 1; i <= heads - power; ++i) slopes.push_back(slope(static_cast<double>(2 * i - 1), 2 * power));
  return tensor({heads}, slopes);
}

Tensor distance_line(const Bias& bias, int64_t heads, const Distances& distances, DType type) {
  Tensor line;
  const auto [first, count] = distances;
  if (bias.slopes) {
    require(bias.slopes.shape() == Shape{heads}, "bias: found slopes {}, expected [{}]", bias.slopes.shape().text(),
            heads);
    std::vector<double> reach;
    for (int64_t i = 0; i < count; ++i) reach.push_back(-std::abs(static_cast<double>(first + i)));
    line = bias.slopes.to(type).unsqueeze(1) * tensor({1, count}, reach).to(type);
  }
  if (bias.table) {
    require(bias.table.rank() == 2 && bias.table.size(1) == heads, "bias: found a table {}, expected [buckets, {}]",
            bias.table.shape().text(), heads);
    require(bias.buckets.farthest > 0 && bias.table.size(0) >= (bias.buckets.bidirectional ? 4 : 2),
            "bias: found {} buckets up to distance {}, expected 4 or more", bias.table.size(0), bias.buckets.farthest);
    std::vector<int64_t> bucket;
    for (int64_t i = 0; i < count; ++i) bucket.push_back(bias.buckets.bucket(first + i, bias.table.size(0)));
    Tensor learned = rows(bias.table.to(type), tensor({count}, bucket)).transpose(0, 1);
    line = line ? line + learned : learned;
  }
  return line ? line.contiguous() : line;
}

Tensor dense_bias(const Bias& bias, const Mask& mask, Shape scores, DType type) {
  const int64_t batch = scores[0], heads = scores[1], queries = scores[2], keys = scores[3];
  Tensor result;
  if (Tensor line = distance_line(bias, heads, distances_of(mask, queries, keys), type)) {
    result = rows(line.transpose(0, 1), distance_places(mask, batch, queries, keys))
                 .permute({0, 3, 1, 2});  // [batch, queries, keys, heads] → heads second
  }
  if (bias.added) {
    require(!mask.query_starts,
            "bias: the formula takes an explicit bias for whole batches only, found packed sequences");
    result = result ? result + bias.added.to(type) : bias.added.to(type);
  }
  return result;
}

}  // namespace fovea
