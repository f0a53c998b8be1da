// The inner loops of the matrix product for one instruction set: packing, and one tile of C held in registers.
//
//   pack_lanes<tile_rows>(a, row_stride, column_stride, rows, depth, packed);      // [depth][tile_rows]
//   tile_kernel<12, 2, true>({.depth = k, .a = packed, .b = panels, .b_panel = 16 * k, .out = c, .out_stride = n});
#if defined(FOVEA_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_TILE_INL_H_
#undef FOVEA_KERNELS_TILE_INL_H_
#else
#define FOVEA_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
inline constexpr int64_t lanes = HWY_LANES(float);

// A tile is tile_rows × tile_vectors: its sums, a row of B and the broadcast elements of A fill the registers.
#if HWY_TARGET == HWY_AVX3
inline constexpr int tile_rows = 12, tile_vectors = 2;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int tile_rows = 6, tile_vectors = 2;
#else
inline constexpr int tile_rows = 4, tile_vectors = lanes == 1 ? 4 : 2;
#endif
inline constexpr int64_t tile_columns = tile_vectors * lanes;

// Four consecutive floats, and four rows of four that become four columns of four stored `step` apart.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void copy_four(const float* from, float* to) {
  for (int i = 0; i < 4; ++i) to[i] = from[i];
}
HWY_INLINE void transpose_four(const float* from, int64_t stride, float* to, int64_t step) {
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) to[k * step + i] = from[i * stride + k];
  }
}
#else
HWY_INLINE void copy_four(const float* from, float* to) {
  const hn::FixedTag<float, 4> d;
  hn::StoreU(hn::LoadU(d, from), d, to);
}
HWY_INLINE void transpose_four(const float* from, int64_t stride, float* to, int64_t step) {
  const hn::FixedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto lower01 = hn::InterleaveLower(d, r0, r1), lower23 = hn::InterleaveLower(d, r2, r3);
  const auto upper01 = hn::InterleaveUpper(d, r0, r1), upper23 = hn::InterleaveUpper(d, r2, r3);
  hn::StoreU(hn::ConcatLowerLower(d, lower23, lower01), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, lower23, lower01), d, to + step);
  hn::StoreU(hn::ConcatLowerLower(d, upper23, upper01), d, to + 2 * step);
  hn::StoreU(hn::ConcatUpperUpper(d, upper23, upper01), d, to + 3 * step);
}
#endif

// packed[k][lane] = from[lane * lane_stride + k * depth_stride], zero for the lanes from `count` on. A and B alike: the
// lanes of A's tile are rows, those of B's panel are columns.
template <int width>
void pack_lanes(const float* from, int64_t lane_stride, int64_t depth_stride, int64_t count, int64_t depth,
                float* packed) {
  int64_t k = 0;
  if (count >= width && lane_stride == 1) {
    for (; k < depth; ++k) {
      const float* row = from + k * depth_stride;
      float* to = packed + k * width;
      int i = 0;
      for (; i + 4 <= width; i += 4) copy_four(row + i, to + i);
      for (; i < width; ++i) to[i] = row[i];
    }
    return;
  }
  if (count >= width && depth_stride == 1) {
    for (; k + 4 <= depth; k += 4) {
      const float* row = from + k;
      float* to = packed + k * width;
      int i = 0;
      for (; i + 4 <= width; i += 4) transpose_four(row + i * lane_stride, lane_stride, to + i, width);
      for (; i < width; ++i) {
        for (int step = 0; step < 4; ++step) to[step * width + i] = row[i * lane_stride + step];
      }
    }
  }
  for (; k < depth; ++k) {
    for (int i = 0; i < width; ++i) {
      packed[k * width + i] = i < count ? from[i * lane_stride + k * depth_stride] : 0.0f;
    }
  }
}

struct TileJob {
  int64_t depth = 0;
  const float* a = nullptr;  // packed: [depth][tile_rows]; otherwise contiguous rows a_stride apart
  int64_t a_stride = 0;
  const float* b = nullptr;      // the tile's first column in its panel
  int64_t b_panel = 0;           // floats from one panel to the next
  const float* start = nullptr;  // first summands, or nothing for zeros
  int64_t start_stride = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
};

template <size_t... i, class Body>
HWY_INLINE void unroll(std::index_sequence<i...>, Body&& body) {
  (body.template operator()<i>(), ...);
}

// out[rows, vectors · lanes] = start + A · B. The sums stand in an array whose every index is a constant, so that the
// compiler keeps them in registers.
template <int rows, int vectors, bool packed>
HWY_NOINLINE void tile_kernel(const TileJob& job) {
  const FloatTag d;
  constexpr auto sums = std::make_index_sequence<rows * vectors>();
  constexpr auto rows_of_tile = std::make_index_sequence<rows>();
  constexpr auto columns_of_tile = std::make_index_sequence<vectors>();
  FloatVector sum[rows * vectors];
  if (job.start != nullptr) {
    unroll(
        sums, [&]<size_t i>() __attribute__((always_inline)) {
          sum[i] = hn::LoadU(d, job.start + i / vectors * job.start_stride + i % vectors * lanes);
        });
  } else {
    unroll(
        sums, [&]<size_t i>() __attribute__((always_inline)) { sum[i] = hn::Zero(d); });
  }
  const float* HWY_RESTRICT a = job.a;
  const float* HWY_RESTRICT b = job.b;
  const int64_t a_stride = packed ? 1 : job.a_stride, b_panel = job.b_panel;
  for (int64_t k = 0; k < job.depth; ++k, a += packed ? tile_rows : 1, b += 16) {
    FloatVector column[vectors];
    unroll(
        columns_of_tile, [&]<size_t v>() __attribute__((always_inline)) {
          column[v] = hn::LoadU(d, b + v * lanes / 16 * b_panel + v * lanes % 16);
        });
    unroll(
        rows_of_tile, [&]<size_t r>() __attribute__((always_inline)) {
          const FloatVector element = hn::Set(d, a[r * a_stride]);
          unroll(
              columns_of_tile, [&]<size_t v>() __attribute__((always_inline)) {
                sum[r * vectors + v] = hn::MulAdd(element, column[v], sum[r * vectors + v]);
              });
        });
  }
  unroll(
      sums, [&]<size_t i>() __attribute__((always_inline)) {
        hn::StoreU(sum[i], d, job.out + i / vectors * job.out_stride + i % vectors * lanes);
      });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
