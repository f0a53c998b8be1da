// Products with the blocks of GGUF files on one instruction set: a panel of 16 columns at a time, for one row or a tile of them.
//
//   run_block_task(task);                               // computes C[row_begin … row_end, column_begin … column_end)
//
// For each group of 16 or 32 numbers, whole numbers are multiplied and added exactly; then sum += (Σ · sx) · scale, sum += min · Σx.
// Codes of 4 bits are multiplied as bytes and added in 16 bits: 32 · 15 · 127 / 2 fits; or by dot products (unit.h). One row reads the panel as it lies; for
// more rows its codes and scales are first spread out in memory that stays near.
#if defined(FOVEA_KERNELS_BLOCK_TASK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_BLOCK_TASK_INL_H_
#undef FOVEA_KERNELS_BLOCK_TASK_INL_H_
#else
#define FOVEA_KERNELS_BLOCK_TASK_INL_H_
#endif

#include <hwy/highway.h>

#include "fovea/base/scratch.h"
#include "fovea/kernels/block_panels.h"
#include "fovea/kernels/fetch.h"
#include "fovea/kernels/gemm_task-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A panel is this many vectors wide, and so many rows' sums fill three quarters of the registers.
inline constexpr int panel_vectors = panel_width / lanes;
inline constexpr int block_rows = panel_vectors >= 12 ? 1 : 12 / panel_vectors;

// One row reads as many panels side by side as there are registers for: memory gives several streams faster than one.
inline constexpr int panels_of_one_row = panel_vectors >= 4 ? 1 : 4 / panel_vectors;

using Codes32 = hn::RebindToSigned<FloatTag>;  // lanes of four codes of one column
using Code32 = hn::Vec<Codes32>;

HWY_INLINE Code32 codes_at(const std::byte* p) { return hn::LoadU(Codes32(), reinterpret_cast<const int32_t*>(p)); }

// Bytes of 0 to 15, four of a column in each lane, with four numbers of x.
struct SmallCodes {
  static constexpr int halves = 1, per_line = 1;
  static constexpr bool offsets = false;  // whether sums begin with what they lack
  template <size_t>
  static HWY_INLINE Code32 column(const std::byte* codes) {
    return codes_at(codes);
  }
  static HWY_INLINE Code32 element(const float* x) { return Int8::element(x); }
#if HWY_TARGET == HWY_SCALAR
  using Sum = Code32;
  static HWY_INLINE Sum add(Code32 x, Code32 codes, Sum sum) {
    const auto byte = [](Code32 v, auto shifted) { return hn::ShiftRight<24>(hn::ShiftLeft<shifted.value>(v)); };
    const auto term = [&](auto shifted) { return hn::Mul(byte(x, shifted), byte(codes, shifted)); };
    sum = hn::Add(sum, hn::Add(term(std::integral_constant<int, 24>()), term(std::integral_constant<int, 16>())));
    return hn::Add(sum, hn::Add(term(std::integral_constant<int, 8>()), term(std::integral_constant<int, 0>())));
  }
  static HWY_INLINE Code32 whole(Sum sum) { return sum; }
#else
  using Pairs = hn::Repartition<int16_t, Codes32>;
  using Sum = hn::Vec<Pairs>;
  static HWY_INLINE Sum products(Code32 x, Code32 codes) {
    const auto a = hn::BitCast(Pairs(), x), c = hn::BitCast(Pairs(), codes);
    const auto even = hn::Mul(hn::ShiftRight<8>(hn::ShiftLeft<8>(a)), hn::ShiftRight<8>(hn::ShiftLeft<8>(c)));
    return hn::Add(even, hn::Mul(hn::ShiftRight<8>(a), hn::ShiftRight<8>(c)));
  }
  static HWY_INLINE Sum add(Code32 x, Code32 codes, Sum sum) {
#if FOVEA_SUMS_IN_PLACE
    decltype(sum.raw) more;
    asm("vpmaddubsw %2, %3, %1\n\tvpaddw %1, %0, %0" : "+v"(sum.raw), "=&v"(more) : "v"(x.raw), "v"(codes.raw));
    return sum;
#else
    return hn::Add(sum, products(x, codes));
#endif
  }
  static HWY_INLINE Code32 whole(Sum sum) {
#if HWY_TARGET == HWY_AVX2
    return Code32{_mm256_madd_epi16(sum.raw, _mm256_set1_epi16(1))};
#elif HWY_TARGET == HWY_AVX3
    return Code32{_mm512_madd_epi16(sum.raw, _mm512_set1_epi16(1))};
#else
    const auto both = hn::BitCast(Codes32(), sum);
    return hn::Add(hn::ShiftRight<16>(both), hn::ShiftRight<16>(hn::ShiftLeft<16>(both)));
#endif
  }
#endif
};

#if FOVEA_HAS_DOTS
// The same on the unit for dot products, in 32 bits.
struct SmallDots : SmallCodes {
  using Sum = Code32;
  static HWY_INLINE Sum add(Code32 x, Code32 codes, Sum sum) { return Dots::add(x, codes, sum); }
  static HWY_INLINE Code32 whole(Sum sum) { return sum; }
};
#endif

// The same, two in a byte: the lower halves are the next four of a column, the upper ones those behind.
template <class Bytes>
struct PackedCodes : Bytes {
  static constexpr int per_line = 2;
  template <size_t half>
  static HWY_INLINE Code32 column(const std::byte* codes) {
    const auto both = codes_at(codes);
    return hn::And(half == 0 ? both : hn::ShiftRight<4>(both), hn::Set(Codes32(), 0x0f0f0f0f));
  }
};

// Bytes of −128 to 127, as Int8 or Dots of tile-inl.h multiply them.
template <class Format>
struct WideCodes {
  static constexpr int halves = 1, per_line = 1;
  static constexpr bool offsets = true;
  using Sum = Int8::Sum;
  template <size_t>
  static HWY_INLINE Sum column(const std::byte* codes) {
    return Int8::column<0>(reinterpret_cast<const float*>(codes));
  }
  static HWY_INLINE Sum element(const float* x) { return Int8::element(x); }
  static HWY_INLINE Sum add(Sum x, Sum codes, Sum sum) { return Format::add(x, codes, sum); }
  static HWY_INLINE Code32 whole(Sum sum) { return sum; }
};

HWY_INLINE FloatVector halves_at(const uint16_t* p) {
  const hn::Rebind<hwy::float16_t, FloatTag> d;
  return hn::PromoteTo(FloatTag(), hn::LoadU(d, reinterpret_cast<const hwy::float16_t*>(p)));
}
HWY_INLINE FloatVector whole_at(const int8_t* p) {
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(Codes32(), hn::LoadU(hn::Rebind<int8_t, FloatTag>(), p)));
}

// Scales and mins of a group, for columns [column, column + lanes) of a panel; an offset of the codes is a min, too.
template <BlockType type>
struct StoredScales {
  static constexpr BlockForm form = form_of(type);
  static constexpr int64_t group = form.group;
  static constexpr bool mins = form.mins || form.offset != 0;
  BlockPanel panel;

  HWY_INLINE FloatVector scale(int64_t g, int64_t column) const {
    const int64_t at = g * panel_width + column;
    if constexpr (!form.nested) return halves_at(panel.d + at);
    return hn::Mul(halves_at(panel.d + block(g) + column), whole_at(panel.scales + at));
  }
  HWY_INLINE FloatVector min(int64_t g, int64_t column, FloatVector scale) const {
    const int64_t at = g * panel_width + column;
    if constexpr (!form.mins) return hn::Mul(scale, hn::Set(FloatTag(), static_cast<float>(-form.offset)));
    if constexpr (!form.nested) return halves_at(panel.m + at);
    return hn::Mul(halves_at(panel.m + block(g) + column), whole_at(panel.mins + at));
  }
  static HWY_INLINE int64_t block(int64_t g) { return g / (block_of(type).numbers / group) * panel_width; }
};

template <int64_t numbers, bool with_mins>
struct SpreadScales {
  static constexpr int64_t group = numbers;
  static constexpr bool mins = with_mins;
  const float *scales, *smallest;  // [groups][16]

  HWY_INLINE FloatVector scale(int64_t g, int64_t column) const {
    return hn::Load(FloatTag(), scales + g * panel_width + column);
  }
  HWY_INLINE FloatVector min(int64_t g, int64_t column, FloatVector) const {
    return hn::Load(FloatTag(), smallest + g * panel_width + column);
  }
};

// Rows of x as one kind of codes meets them; words are four bytes.
struct BlockX {
  const float* words;
  int64_t words_stride;
  const float *scales, *sums;  // of 32 numbers, of a group
  const int32_t* offsets;      // of a group, or nothing
  int64_t scales_stride, sums_stride;
  int64_t last;  // the row that stands for all behind it
};

// What the next panels begin with, while `left` groups of these are left: the hardware fetches ahead within a panel, but does not know
// that others follow. (Fetching ahead within panels by hand made it slower.)
template <class Scales, int panels>
HWY_INLINE void fetch_beginnings(const std::byte* codes, int64_t panel, const Scales (&scales)[panels], int64_t left) {
  constexpr int64_t parts = 8, part = 128, scales_of_group = 256;  // a part in each of the last groups
  if (left > parts) return;
  for (int64_t p = 0; p < panels; ++p) {
    const std::byte* next = codes + (panels + p) * panel + (parts - left) * part;
    fetch(next, part);
    const std::byte* d = reinterpret_cast<const std::byte*>(scales[p].panel.d) + panels * panel;
    if (left == 1) fetch(d, scales_of_group);
  }
}

// sums[rows][panels · 16] = x · panels, whose codes stand `panel` bytes apart.
template <class Codes, class Scales, int rows, int panels>
HWY_NOINLINE void block_tile(const std::byte* HWY_RESTRICT codes, int64_t panel, const Scales (&scales)[panels],
                             int64_t depth, const BlockX& x, float* HWY_RESTRICT sums) {
  const FloatTag d;
  constexpr int vectors = panels * panel_vectors;
  constexpr auto all = std::make_index_sequence<rows * vectors>();
  constexpr int64_t quads = Scales::group / 4, group_bytes = quads * panel_width * 4 / Codes::per_line;
  const float* x_of[rows];
  const float *x_scales[rows], *x_sums[rows];
  const int32_t* x_offsets[rows];
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = HWY_MIN(r, x.last);
    x_of[r] = x.words + row * x.words_stride;
    x_scales[r] = x.scales + row * x.scales_stride, x_sums[r] = x.sums + row * x.sums_stride;
    x_offsets[r] = Codes::offsets ? x.offsets + row * x.sums_stride : nullptr;
  }
  for (int64_t i = 0; i < rows * vectors * lanes; i += lanes) hn::Store(hn::Zero(d), d, sums + i);
  for (int64_t g = 0; g < depth / Scales::group; ++g, codes += group_bytes) {
    typename Codes::Sum sum[rows * vectors];
    unroll(
        all, [&]<size_t i>() __attribute__((always_inline)) {
          if constexpr (Codes::offsets)
            sum[i] = hn::Set(Codes32(), x_offsets[i / vectors][g]);
          else
            sum[i] = hn::Zero(hn::DFromV<typename Codes::Sum>());
        });
    constexpr int steps = Codes::halves * Codes::per_line;  // words of x for a line of codes
    if constexpr (rows == 1 && requires { scales[0].panel; })
      fetch_beginnings(codes - g * group_bytes, panel, scales, depth / Scales::group - g);
    for (int64_t i = 0; i < group_bytes / 64; ++i) {
      const int64_t word = (g * group_bytes / 64 + i) * steps;
      unroll(
          std::make_index_sequence<steps>(), [&]<size_t step>() __attribute__((always_inline)) {
            decltype(Codes::template column<step>(codes)) column[vectors];
            unroll(
                std::make_index_sequence<vectors>(), [&]<size_t v>() __attribute__((always_inline)) {
                  const std::byte* of_panel = codes + v / panel_vectors * panel;
                  column[v] = Codes::template column<step>(of_panel + i * 64 + v % panel_vectors * lanes * 4);
                });
            unroll(
                std::make_index_sequence<rows>(), [&]<size_t r>() __attribute__((always_inline)) {
                  const auto element = Codes::element(x_of[r] + word + static_cast<int64_t>(step));
                  unroll(
                      std::make_index_sequence<vectors>(), [&]<size_t v>() __attribute__((always_inline)) {
                        sum[r * vectors + v] = Codes::add(element, column[v], sum[r * vectors + v]);
                      });
                });
          });
    }
    unroll(
        std::make_index_sequence<vectors>(), [&]<size_t v>() __attribute__((always_inline)) {
          constexpr int64_t at = v % panel_vectors * lanes;
          const Scales& of_panel = scales[v / panel_vectors];
          const FloatVector scale = of_panel.scale(g, at);
          FloatVector min = scale;
          if constexpr (Scales::mins) min = of_panel.min(g, at, scale);
          unroll(
              std::make_index_sequence<rows>(), [&]<size_t r>() __attribute__((always_inline)) {
                float* to = sums + static_cast<int64_t>(r * vectors + v) * lanes;
                const FloatVector whole = hn::ConvertTo(d, Codes::whole(sum[r * vectors + v]));
                const FloatVector term = hn::Mul(whole, hn::Set(d, x_scales[r][g * Scales::group / 32]));
                FloatVector total = hn::MulAdd(term, scale, hn::Load(d, to));
                if constexpr (Scales::mins) total = hn::MulAdd(min, hn::Set(d, x_sums[r][g]), total);
                hn::Store(total, d, to);
              });
        });
  }
}

BlockX rows_from(const GemmTask& t, int64_t group, int64_t row) {
  const RoundedBlocks& x = t.rounded;
  const int64_t depth = t.blocks->depth;
  BlockX of = {};
  of.words = reinterpret_cast<const float*>(x.bytes + row * depth), of.words_stride = depth / 4;
  of.scales_stride = depth / 32, of.scales = x.scales + row * of.scales_stride;
  of.sums_stride = depth / group, of.sums = (group == 32 ? x.sums : x.halves) + row * of.sums_stride;
  if (x.offsets) of.offsets = (group == 32 ? x.offsets : x.half_offsets) + row * of.sums_stride;
  of.last = t.row_end - row - 1;
  return of;
}

// A panel's codes as bytes and its scales as floats, in memory that is used again for the next one.
template <BlockType type>
class SpreadPanel {
  using Stored = StoredScales<type>;
  static constexpr bool small = Stored::form.bits == 4;

 public:
  using Scales = SpreadScales<Stored::group, Stored::mins>;

  SpreadPanel(int64_t depth, Scratch& scratch)
      : depth_(depth),
        bytes_(small ? scratch.take<std::byte>(depth * panel_width) : nullptr),
        scales_(scratch.take<float>(depth / Stored::group * panel_width)),
        mins_(Stored::mins ? scratch.take<float>(depth / Stored::group * panel_width) : nullptr) {}

  void read(const BlockPanel& panel) {
    codes_ = small ? bytes_ : panel.codes;
    const Stored stored = {panel};
    for (int64_t g = 0; g < depth_ / Stored::group; ++g) {
      for (int64_t v = 0; v < panel_width; v += lanes) {
        const FloatVector scale = stored.scale(g, v);
        hn::Store(scale, FloatTag(), scales_ + g * panel_width + v);
        if constexpr (Stored::mins) hn::Store(stored.min(g, v, scale), FloatTag(), mins_ + g * panel_width + v);
      }
    }
    for (int64_t i = 0; small && i < depth_ / 8; ++i) {
      for (int64_t v = 0; v < panel_width; v += lanes) {
        const std::byte* both = panel.codes + i * 64 + v * 4;
        auto* to = reinterpret_cast<int32_t*>(bytes_ + i * 128 + v * 4);
        hn::Store(PackedCodes<SmallCodes>::column<0>(both), Codes32(), to);
        hn::Store(PackedCodes<SmallCodes>::column<1>(both), Codes32(), to + panel_width);
      }
    }
  }
  const std::byte* codes() const { return codes_; }
  Scales scales() const { return {scales_, mins_}; }

 private:
  int64_t depth_;
  std::byte* bytes_;
  float *scales_, *mins_;
  const std::byte* codes_ = nullptr;
};

// One row, from column `j` on, which moves on to what is left.
template <class Codes, class Stored, int panels>
void run_block_row(const GemmTask& t, int64_t& j) {
  constexpr int64_t width = panels * panel_width;
  alignas(64) float sums[width];
  const int64_t depth = t.blocks->depth;
  for (; j < t.column_end && (panels == 1 || j + width <= t.column_end); j += width) {
    Stored stored[panels];
    for (int64_t p = 0; p < panels; ++p) stored[p] = {panel_of(*t.blocks, j / panel_width + p)};
    block_tile<Codes, Stored, 1, panels>(stored[0].panel.codes, panel_bytes(*t.blocks->blocks, depth), stored, depth,
                                         rows_from(t, Stored::group, t.row_begin), sums);
    finish(t, t.row_begin, j, 1, HWY_MIN(width, t.column_end - j), sums, width);
  }
}

template <BlockType type, class Small, class Wide>
void run_blocks(const GemmTask& t) {
  using Stored = StoredScales<type>;
  constexpr bool small = Stored::form.bits == 4;
  if (t.row_end - t.row_begin == 1) {
    using Codes = std::conditional_t<small, PackedCodes<Small>, Wide>;
    int64_t j = t.column_begin;
    run_block_row<Codes, Stored, panels_of_one_row>(t, j);
    return run_block_row<Codes, Stored, 1>(t, j);
  }
  using Codes = std::conditional_t<small, Small, Wide>;
  using Spread = typename SpreadPanel<type>::Scales;
  constexpr int third = block_rows >= 3 ? block_rows / 3 : 1;
  const int64_t depth = t.blocks->depth;
  alignas(64) float sums[block_rows * panel_width];
  Scratch scratch;
  SpreadPanel<type> panel(depth, scratch);
  for (int64_t j = t.column_begin; j < t.column_end; j += panel_width) {
    panel.read(panel_of(*t.blocks, j / panel_width));
    const Spread spread[1] = {panel.scales()};
    const std::byte* codes = panel.codes();
    for (int64_t row = t.row_begin; row < t.row_end; row += block_rows) {
      const int64_t rows = HWY_MIN(block_rows, t.row_end - row);
      const BlockX x = rows_from(t, Stored::group, row);
      if (rows <= third)
        block_tile<Codes, Spread, third, 1>(codes, 0, spread, depth, x, sums);
      else if (rows <= 2 * third)
        block_tile<Codes, Spread, 2 * third, 1>(codes, 0, spread, depth, x, sums);
      else
        block_tile<Codes, Spread, block_rows, 1>(codes, 0, spread, depth, x, sums);
      finish(t, row, j, rows, HWY_MIN(panel_width, t.column_end - j), sums, panel_width);
    }
  }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
