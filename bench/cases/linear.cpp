// y = x Wᵀ with packed weights, and its two gradients with all the packing that a training step needs.
#include <memory>

#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/kernels/gemm.h"

namespace fovea::benches {
namespace {

using kernels::gemm;
using kernels::GemmShape;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<float, Free>;

// Buffers begin a few cache lines into their page, each at another place, as those of a real program do.
Buffer random_buffer(int64_t count, uint64_t seed) {
  Buffer buffer(static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(count + 16) / 16 * 64)));
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) buffer.get()[i] = random.uniform(static_cast<uint64_t>(i)) - 0.5f;
  return buffer;
}

std::string text(const GemmShape& s) {
  return "rows=" + std::to_string(s.rows) + " columns=" + std::to_string(s.columns) +
         " depth=" + std::to_string(s.depth);
}

void layer(Bencher& b, const GemmShape& s) {
  const auto [rows, outputs, inputs] = s;
  const double operations = 2.0 * static_cast<double>(rows * outputs * inputs);
  Buffer x = random_buffer(rows * inputs, 1), w = random_buffer(outputs * inputs, 2),
         y = random_buffer(rows * outputs, 3);
  Buffer packed = random_buffer(kernels::packed_size(inputs, outputs), 4);
  kernels::pack({w.get(), 1, inputs}, inputs, outputs, packed.get());
  b.flops("linear", text(s), operations, [&] { gemm(s, {x.get(), inputs, 1}, packed.get(), {y.get(), outputs}); });
  Buffer dx = random_buffer(rows * inputs, 5), dw = random_buffer(outputs * inputs, 6);
  b.flops("linear_dx", text(s), operations, [&] {
    gemm({rows, inputs, outputs}, {y.get(), outputs, 1}, kernels::Matrix{w.get(), inputs, 1}, {dx.get(), inputs});
  });
  b.flops("linear_dw", text(s), operations, [&] {
    gemm({outputs, inputs, rows}, {y.get(), 1, outputs}, kernels::Matrix{x.get(), inputs, 1}, {dw.get(), inputs});
  });
}

void one_row(Bencher& b) {
  const GemmShape s = {1, 3072, 768};
  Buffer x = random_buffer(s.depth, 1), y = random_buffer(s.columns, 2);
  Buffer packed = random_buffer(kernels::packed_size(s.depth, s.columns), 3);
  b.rate("linear_one_row", text(s), 4e-9 * static_cast<double>(s.columns * s.depth), "GB/s", [&] {
    gemm(s, {x.get(), s.depth, 1}, packed.get(), {y.get(), s.columns});
  });
}

}  // namespace

extern const Bench linear = {
    .name = "linear", .help = "matrix products with packed weights, and their gradients", .run = [](Bencher& b) {
      for (const GemmShape& s : {GemmShape{512, 768, 768}, GemmShape{512, 3072, 768}, GemmShape{512, 768, 3072}})
        layer(b, s);
      one_row(b);
    }};

}  // namespace fovea::benches
