// The inner loops of the matrix product for one instruction set: packing, and one tile of C held in registers.
//
//   pack_lanes<tile_rows>(a, row_stride, column_stride, rows, depth, packed);      // [depth][tile_rows]
//   tile_kernel<F32, 12, 2, true>({.depth = k, .a = packed, .b = panels, .b_panel = 16 * k, .out = c, .out_stride = n});
#if defined(FOVEA_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_TILE_INL_H_
#undef FOVEA_KERNELS_TILE_INL_H_
#else
#define FOVEA_KERNELS_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "fovea/kernels/fetch.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
inline constexpr int64_t lanes = HWY_LANES(float);

// A tile is tile_rows × tile_vectors: its sums, a row of B and the broadcast elements of A fill the registers. Sanitizers would
// compile the large ones for minutes; they find in a small one what they would find there.
#if defined(FOVEA_SANITIZED)
inline constexpr int tile_rows = 2, tile_vectors = lanes == 1 ? 4 : 2;
#define FOVEA_SMALL_TILES 1
#elif HWY_TARGET == HWY_AVX3
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

// Left to itself, GCC moves the sums of a loop of two halves between registers, and some out of them: where a tile fills the
// registers, one instruction says where its sum stands.
#undef FOVEA_SUMS_IN_PLACE
#define FOVEA_SUMS_IN_PLACE (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

// How the words of A and B are multiplied (gemm_task.h): column<half>(b) is one half of a vector of B's words, to be multiplied
// with the word of A that element() spreads.
struct F32 {
  static constexpr int halves = 1;
  static constexpr bool rounded = false;  // whether the rows of A are words that were made for it
  using Sum = FloatVector;
  template <size_t half>
  static HWY_INLINE FloatVector column(const float* b) {
    return hn::LoadU(FloatTag(), b);
  }
  static HWY_INLINE FloatVector element(const float* a) { return hn::Set(FloatTag(), *a); }
  static HWY_INLINE Sum add(FloatVector element, FloatVector column, Sum sum) {
    return hn::MulAdd(element, column, sum);
  }
};

struct Bf16 : F32 {
  static constexpr int halves = 2;
#if FOVEA_SUMS_IN_PLACE
  static HWY_INLINE Sum add(FloatVector element, FloatVector column, Sum sum) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(element.raw), "v"(column.raw));
    return sum;
  }
#endif
  template <size_t half>
  static HWY_INLINE FloatVector column(const float* b) {
    const hn::RebindToUnsigned<FloatTag> d;
    const auto word = hn::LoadU(d, reinterpret_cast<const uint32_t*>(b));
    return hn::BitCast(FloatTag(), half == 0 ? hn::ShiftLeft<16>(word) : hn::And(word, hn::Set(d, 0xffff0000u)));
  }
};

// A word of A or B is four bytes. Neighbours of A, two and two, have sizes that add up to 127 at most (round-inl.h): so B + 128,
// whose bytes have no sign, times a pair of A fits into 16 bits, and the sums are exact but for 128 · Σ A: offset_of() is what they
// lack. Where there is no such instruction, even and odd bytes are multiplied in 16 bits, and nothing is lacking.
struct Int8 {
  static constexpr int halves = 1;
  static constexpr bool rounded = true;
  using Tag = hn::RebindToSigned<FloatTag>;
  using Sum = hn::Vec<Tag>;
  static HWY_INLINE Sum element(const float* a) {
    int32_t word;
    std::memcpy(&word, a, sizeof word);
    return hn::Set(Tag(), word);
  }
  static HWY_INLINE Sum load(const float* b) { return hn::LoadU(Tag(), reinterpret_cast<const int32_t*>(b)); }
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  template <class T, T value>
  struct Spread {  // in memory: the sums fill the registers
    T numbers[4 * lanes / sizeof(T)];
    constexpr Spread() : numbers() {
      for (T& n : numbers) n = value;
    }
  };
  static HWY_INLINE int32_t offset_of(int32_t sum) { return -128 * sum; }
  template <size_t>
  static HWY_INLINE Sum column(const float* b) {
#if HWY_TARGET == HWY_AVX2
    alignas(64) static constexpr Spread<uint8_t, 128> signs;
    Sum words = load(b);
    asm("vpxor %1, %0, %0" : "+v"(words.raw) : "m"(signs));
    return words;
#else
    return hn::Xor(load(b), hn::Set(Tag(), static_cast<int32_t>(0x80808080u)));
#endif
  }
  static HWY_INLINE Sum add(Sum element, Sum column, Sum sum) {
    alignas(64) static constexpr Spread<int16_t, 1> ones;
#if HWY_TARGET == HWY_AVX2
    auto pairs = _mm256_maddubs_epi16(column.raw, element.raw);
#else
    auto pairs = _mm512_maddubs_epi16(column.raw, element.raw);
#endif
    asm("vpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0" : "+v"(sum.raw), "+v"(pairs) : "m"(ones));
    return sum;
  }
#else
  static HWY_INLINE int32_t offset_of(int32_t) { return 0; }
  template <size_t>
  static HWY_INLINE Sum column(const float* b) {
    return load(b);
  }
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  template <int shift>
  static HWY_INLINE Sum product(Sum element, Sum column) {
    return hn::Mul(hn::ShiftRight<24>(hn::ShiftLeft<shift>(element)), hn::ShiftRight<24>(hn::ShiftLeft<shift>(column)));
  }
  static HWY_INLINE Sum add(Sum element, Sum column, Sum sum) {
    sum = hn::Add(sum, hn::Add(product<24>(element, column), product<16>(element, column)));
    return hn::Add(sum, hn::Add(product<8>(element, column), product<0>(element, column)));
  }
#else
  using Pairs = hn::Repartition<int16_t, Tag>;
  template <int shift>
  static HWY_INLINE Sum products(Sum element, Sum column) {
    const auto half = [](Sum words) { return hn::ShiftRight<8>(hn::ShiftLeft<shift>(hn::BitCast(Pairs(), words))); };
    Sum odd = hn::Zero(Tag());
    const Sum even = hn::ReorderWidenMulAccumulate(Tag(), half(element), half(column), odd, odd);
    return hn::RearrangeToOddPlusEven(even, odd);
  }
  static HWY_INLINE Sum add(Sum element, Sum column, Sum sum) {
    return hn::Add(sum, hn::Add(products<8>(element, column), products<0>(element, column)));
  }
#endif
#endif
};

// The same where the CPU has a unit for it, which adds up the four products of a word in one instruction.
#undef FOVEA_HAS_DOTS
#define FOVEA_HAS_DOTS FOVEA_SUMS_IN_PLACE
#if FOVEA_HAS_DOTS
struct Dots : Int8 {
  static HWY_INLINE Sum add(Sum element, Sum column, Sum sum) {
#if HWY_TARGET == HWY_AVX2
    asm("%{vex%} vpdpbusd %1, %2, %0" : "+x"(sum.raw) : "x"(element.raw), "x"(column.raw));
#else
    asm("vpdpbusd %1, %2, %0" : "+v"(sum.raw) : "v"(element.raw), "v"(column.raw));
#endif
    return sum;
  }
};
#endif

// A word of A or B is a pair of bf16, whose products are added in f32, the upper one first; denormal numbers count as zeros.
#undef FOVEA_HAS_BF16_DOTS
#define FOVEA_HAS_BF16_DOTS (HWY_TARGET == HWY_AVX3)
#if FOVEA_HAS_BF16_DOTS
struct Bf16Dots : F32 {
  static constexpr bool rounded = true;
  static HWY_INLINE Sum add(FloatVector element, FloatVector column, Sum sum) {
    asm("vdpbf16ps %1, %2, %0" : "+v"(sum.raw) : "v"(element.raw), "v"(column.raw));
    return sum;
  }
};
#endif

// All are words: floats, or what the Format makes of them.
struct TileJob {
  int64_t depth = 0;         // in words of A
  const float* a = nullptr;  // packed: [depth][tile_rows]; otherwise contiguous rows a_stride apart
  int64_t a_stride = 0;
  const float* b = nullptr;  // the tile's first column in its panel
  int64_t b_panel = 0;       // from one panel to the next
  // Fetched meanwhile by a tile of no fewer rows than vectors: B so far ahead, and so many lines of what is read next for each four words.
  int64_t ahead = 0;
  const float* next = nullptr;
  int64_t next_lines = 0;
  const float* start = nullptr;  // first summands, or nothing for zeros
  int64_t start_stride = 0;
  const float* bias = nullptr;      // of the columns, which float sums get at the end, or nothing
  const float* residual = nullptr;  // what they get then, or nothing
  int64_t residual_stride = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
};

template <size_t... i, class Body>
HWY_INLINE void unroll(std::index_sequence<i...>, Body&& body) {
  (body.template operator()<i>(), ...);
}

// The same pointer, of which the compiler does not know that it is: it would hold the words of both halves at once.
HWY_INLINE const float* anew(const float* p) {
  asm volatile("" : "+r"(p));
  return p;
}

// sum += A · B over the first `halves` halves of one word of each column. What there is less of, rows or vectors, is held in
// registers.
template <class Format, int rows, int vectors, int halves>
HWY_INLINE void add_words(const float* a, int64_t a_stride, int64_t step, const float* b, int64_t b_panel,
                          typename Format::Sum (&sum)[rows * vectors]) {
  constexpr auto rows_of_tile = std::make_index_sequence<rows>();
  constexpr auto columns_of_tile = std::make_index_sequence<vectors>();
  constexpr auto halves_of_word = std::make_index_sequence<halves>();
  const auto column_at = [&]<size_t half, size_t v>(const float* words) __attribute__((always_inline)) {
    return Format::template column<half>(words + v * lanes / 16 * b_panel + v * lanes % 16);
  };
  if constexpr (vectors > rows) {
    decltype(Format::element(a)) element[halves * rows];
    unroll(
        std::make_index_sequence<halves * rows>(), [&]<size_t i>() __attribute__((always_inline)) {
          element[i] = Format::element(a + i / rows * step + i % rows * a_stride);
        });
    unroll(
        columns_of_tile, [&]<size_t v>() __attribute__((always_inline)) {
          unroll(
              halves_of_word, [&]<size_t half>() __attribute__((always_inline)) {
                const auto column = column_at.template operator()<half, v>(b);
                unroll(
                    rows_of_tile, [&]<size_t r>() __attribute__((always_inline)) {
                      sum[r * vectors + v] = Format::add(element[half * rows + r], column, sum[r * vectors + v]);
                    });
              });
        });
  } else {
    unroll(
        halves_of_word, [&]<size_t half>() __attribute__((always_inline)) {
          const float* words = half == 0 ? b : anew(b);
          decltype(Format::template column<half>(b)) column[vectors];
          unroll(
              columns_of_tile, [&]<size_t v>() __attribute__((always_inline)) {
                column[v] = column_at.template operator()<half, v>(words);
              });
          unroll(
              rows_of_tile, [&]<size_t r>() __attribute__((always_inline)) {
                const auto element = Format::element(a + half * step + r * a_stride);
                unroll(
                    columns_of_tile, [&]<size_t v>() __attribute__((always_inline)) {
                      sum[r * vectors + v] = Format::add(element, column[v], sum[r * vectors + v]);
                    });
              });
        });
  }
}

// out[rows, vectors · lanes] = start + A · B + bias + residual. The sums stand in an array whose every index is a constant, so that the
// compiler keeps them in registers.
template <class Format, int rows, int vectors, bool packed>
HWY_NOINLINE void tile_kernel(const TileJob& job) {
  const FloatTag d;
  using Sum = typename Format::Sum;
  const hn::DFromV<Sum> sum_tag;
  constexpr auto sums = std::make_index_sequence<rows * vectors>();
  Sum sum[rows * vectors];
  if (job.start != nullptr) {
    unroll(
        sums, [&]<size_t i>() __attribute__((always_inline)) {
          sum[i] = hn::BitCast(sum_tag, hn::LoadU(d, job.start + i / vectors * job.start_stride + i % vectors * lanes));
        });
  } else {
    unroll(
        sums, [&]<size_t i>() __attribute__((always_inline)) { sum[i] = hn::Zero(sum_tag); });
  }
  const float* HWY_RESTRICT a = job.a;
  const float* HWY_RESTRICT b = job.b;
  constexpr int64_t step = packed ? tile_rows : 1;
  const int64_t a_stride = packed ? 1 : job.a_stride, b_panel = job.b_panel;
  constexpr int halves = Format::halves;
  const auto add_next = [&]() __attribute__((always_inline)) {
    add_words<Format, rows, vectors, halves>(a, a_stride, step, b, b_panel, sum);
    a += halves * step, b += 16;
  };
  constexpr int64_t together = 4;  // words of a column
  const float* next = job.next;
  const int64_t next_bytes = job.next_lines * 64;
  int64_t words = job.depth / halves;
  for (; words >= together; words -= together) {
    if constexpr (vectors <= rows) {
      if (job.ahead != 0) {
        for (int64_t p = 0; p < (vectors * lanes + 15) / 16; ++p) fetch(b + p * b_panel + job.ahead, together * 64);
      }
      fetch<0, 2>(next, next_bytes);
      next += next_bytes / 4;
    }
    add_next(), add_next(), add_next(), add_next();
  }
  for (; words > 0; --words) add_next();
  if (job.depth % halves != 0) add_words<Format, rows, vectors, 1>(a, a_stride, step, b, b_panel, sum);
  if constexpr (std::is_same_v<Sum, FloatVector>) {
    if (job.bias != nullptr) {
      unroll(
          sums, [&]<size_t i>() __attribute__((always_inline)) {
            sum[i] = hn::Add(sum[i], hn::LoadU(d, job.bias + i % vectors * lanes));
          });
    }
    if (job.residual != nullptr) {
      unroll(
          sums, [&]<size_t i>() __attribute__((always_inline)) {
            const float* summand = job.residual + i / vectors * job.residual_stride + i % vectors * lanes;
            sum[i] = hn::Add(sum[i], hn::LoadU(d, summand));
          });
    }
  }
  unroll(
      sums, [&]<size_t i>() __attribute__((always_inline)) {
        hn::StoreU(hn::BitCast(d, sum[i]), d, job.out + i / vectors * job.out_stride + i % vectors * lanes);
      });
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
