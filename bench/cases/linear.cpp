// y = x Wᵀ with weights packed in each precision, and its two gradients with all the packing that a training step needs.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/bench.h"
#include "fovea/base/random.h"
#include "fovea/kernels/packed.h"

namespace fovea::benches {
namespace {

using kernels::gemm;
using kernels::GemmShape;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<float, Free>;

// Buffers begin a few cache lines into their page, each at another place, as those of a real program do.
Buffer empty_buffer(int64_t count) {
  return Buffer(static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(count + 16) / 16 * 64)));
}

Buffer random_buffer(int64_t count, uint64_t seed) {
  Buffer buffer = empty_buffer(count);
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) buffer.get()[i] = random.uniform(static_cast<uint64_t>(i)) - 0.5f;
  return buffer;
}

constexpr Precision precisions[] = {Precision::f32, Precision::bf16, Precision::int8};

// As many copies of a random weight as fill `bytes`, one behind the other as in a model; at least one.
class Copies {
 public:
  Copies(Precision precision, const GemmShape& s, int64_t bytes)
      : precision_(precision), depth_(s.depth), columns_(s.columns) {
    const int64_t size = kernels::packed_bytes(precision, s.depth, s.columns);
    each_ = (size + 63) / 64 * 64, count_ = std::max<int64_t>(1, bytes / each_);
    memory_ = empty_buffer(each_ / 4 * count_);
    Buffer w = random_buffer(s.columns * s.depth, 7);
    kernels::pack(precision, {w.get(), 1, s.depth}, s.depth, s.columns, at(0));
    for (int64_t i = 1; i < count_; ++i) std::memcpy(at(i), at(0), static_cast<size_t>(size));
  }
  int64_t bytes() const { return each_; }
  kernels::PackedMatrix next() { return {precision_, depth_, columns_, at(turn_++ % count_)}; }

 private:
  std::byte* at(int64_t i) { return reinterpret_cast<std::byte*>(memory_.get()) + i * each_; }

  Precision precision_;
  int64_t depth_, columns_, each_ = 0, count_ = 1, turn_ = 0;
  Buffer memory_;
};

std::string text(const GemmShape& s) {
  return "rows=" + std::to_string(s.rows) + " columns=" + std::to_string(s.columns) +
         " depth=" + std::to_string(s.depth);
}

std::string of(const char* bench, Precision p) {
  return p == Precision::f32 ? bench : fmt::format("{}_{}", bench, name(p));
}

void layer(Bencher& b, const GemmShape& s) {
  const auto [rows, outputs, inputs] = s;
  const double operations = 2.0 * static_cast<double>(rows * outputs * inputs);
  Buffer x = random_buffer(rows * inputs, 1), w = random_buffer(outputs * inputs, 2),
         y = random_buffer(rows * outputs, 3);
  for (Precision p : precisions) {
    Copies weight(p, s, 0);
    b.product(p, of("linear", p), text(s), operations, [&] {
      kernels::multiply(s.rows, {x.get(), s.depth, 1}, weight.next(), {y.get(), s.columns});
    });
  }
  Buffer dx = random_buffer(rows * inputs, 5), dw = random_buffer(outputs * inputs, 6);
  b.flops("linear_dx", text(s), operations, [&] {
    gemm({rows, inputs, outputs}, {y.get(), outputs, 1}, kernels::Matrix{w.get(), inputs, 1}, {dx.get(), inputs});
  });
  b.flops("linear_dw", text(s), operations, [&] {
    gemm({outputs, inputs, rows}, {y.get(), 1, outputs}, kernels::Matrix{x.get(), inputs, 1}, {dw.get(), inputs});
  });
}

// A few rows, as a decoder multiplies them at each step: by one weight again and again, and by one after the other of so many that
// none is left in a cache when its turn comes again.
void few_rows(Bencher& b, const GemmShape& s) {
  constexpr int64_t beyond_caches = 128 << 20;
  Buffer x = random_buffer(s.rows * s.depth, 1), y = random_buffer(s.rows * s.columns, 2);
  for (int64_t bytes : {int64_t{0}, beyond_caches}) {
    for (Precision p : precisions) {
      Copies weights(p, s, bytes);
      b.rate(of("linear_few_rows", p), text(s) + (bytes ? " weights=128MB" : ""),
             1e-9 * static_cast<double>(weights.bytes()), "GB/s", [&] {
               kernels::multiply(s.rows, {x.get(), s.depth, 1}, weights.next(), {y.get(), s.columns});
             });
    }
  }
}

}  // namespace

extern const Bench linear = {
    .name = "linear",
    .help = "matrix products with packed weights of each precision, and their gradients",
    .run = [](Bencher& b) {
      for (const GemmShape& s : {GemmShape{512, 768, 768}, GemmShape{512, 3072, 768}, GemmShape{512, 768, 3072}})
        layer(b, s);
      for (int64_t rows : {1, 5}) few_rows(b, {rows, 3072, 768});
    }};

}  // namespace fovea::benches
