// y = x Wᵀ with weights in the blocks of GGUF files: one row, as decoding multiplies them, and 512 as a prompt does; the shapes of
// SmolLM2-135M's feed-forward and output layers, and of one whose rows are blocks of 256.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/kernels/blocks.h"
#include "fovea/kernels/packed.h"

namespace fovea::benches {
namespace {

using kernels::GemmShape;
using kernels::PackedMatrix;

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

std::vector<float> random_floats(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = random.uniform(i) - 0.5f;
  return x;
}

// As many copies of a random weight as fill `bytes`, one behind the other as in a model; at least one. Any bytes but those of scales
// that are not finite will do.
class Copies {
 public:
  Copies(BlockType type, const GemmShape& s, int64_t bytes)
      : matrix_{Precision::f32, s.depth, s.columns, nullptr, type} {
    each_ = kernels::packed_bytes(type, s.depth, s.columns), count_ = std::max<int64_t>(1, bytes / each_);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(each_ * count_))));
    const auto [numbers, size] = block_of(type);
    std::vector<std::byte> rows(static_cast<size_t>(s.columns * s.depth / numbers * size));
    Random random(7);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>(random.uniform(i) * 64);
    for (int64_t i = 0; i < count_; ++i) kernels::pack_blocks(at(i), rows.data());
  }
  int64_t bytes() const { return each_; }
  PackedMatrix next() { return at(turn_++ % count_); }

 private:
  PackedMatrix at(int64_t i) {
    PackedMatrix m = matrix_;
    m.data = memory_.get() + i * each_;
    return m;
  }

  PackedMatrix matrix_;
  int64_t each_ = 0, count_ = 1, turn_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

void measure(Bencher& b, BlockType type, const GemmShape& s) {
  constexpr int64_t beyond_caches = 128 << 20;
  const std::vector<float> x = random_floats(s.rows * s.depth, 1);
  std::vector<float> y(static_cast<size_t>(s.rows * s.columns));
  Copies weights(type, s, s.rows == 1 ? beyond_caches : 0);
  const auto work = [&] { kernels::multiply(s.rows, {x.data(), s.depth, 1}, weights.next(), {y.data(), s.columns}); };
  const std::string bench = fmt::format("blocks_{}", name(type));
  const std::string text = fmt::format("rows={} columns={} depth={}", s.rows, s.columns, s.depth);
  if (s.rows == 1)
    b.rate(bench, text + " weights=128MB", 1e-9 * static_cast<double>(weights.bytes()), "GB/s", work);
  else
    b.whole_numbers(bench, text, 2.0 * static_cast<double>(s.rows * s.columns * s.depth), work);
}

}  // namespace

extern const Bench blocks = {
    .name = "blocks", .help = "matrix products with weights in the blocks of GGUF files", .run = [](Bencher& b) {
      for (BlockType type : {BlockType::q8_0, BlockType::q4_0, BlockType::q4_1, BlockType::q4_K, BlockType::q6_K}) {
        for (const auto& [columns, depth] : {std::pair<int64_t, int64_t>{1536, 576}, {49152, 576}, {3072, 768}}) {
          if (depth % block_of(type).numbers != 0) continue;
          for (int64_t rows : {1, 512}) measure(b, type, {rows, columns, depth});
        }
      }
    }};

}  // namespace fovea::benches
