// Products with the blocks of GGUF files on the tiles of unit.h, for many rows: the integer sums of each group come from tiles, and vectors
// scale and add them as block_task-inl.h does; the same bits.
//
//   run_block_task(task);                               // computes C[row_begin … row_end, column_begin … column_end) on the task's unit
#if defined(FOVEA_KERNELS_BLOCK_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_BLOCK_TILES_INL_H_
#undef FOVEA_KERNELS_BLOCK_TILES_INL_H_
#else
#define FOVEA_KERNELS_BLOCK_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <array>

#include "fovea/kernels/amx.h"
#include "fovea/kernels/block_task-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Groups whose integer sums, 1 KB each, wait for their scales at a time.
inline constexpr int64_t groups_at_once = 8;

// sums[rows][16] += scaled whole[groups][16][16], the first of which is group `first`.
template <class Scales>
HWY_NOINLINE void add_groups(const int32_t* whole, int64_t first, int64_t groups, const Scales& scales, const BlockX& x,
                             int64_t rows, float* sums) {
  const FloatTag d;
  for (int64_t r = 0; r < rows; ++r) {
    const float* x_scales = x.scales + r * x.scales_stride;
    const float* x_sums = x.sums + r * x.sums_stride;
    for (int64_t v = 0; v < panel_width; v += lanes) {
      float* to = sums + r * panel_width + v;
      FloatVector total = first == 0 ? hn::Zero(d) : hn::Load(d, to);
      for (int64_t i = 0; i < groups; ++i) {
        const int64_t g = first + i;
        const FloatVector number = hn::ConvertTo(d, hn::Load(Codes32(), whole + i * 256 + r * panel_width + v));
        const FloatVector scale = scales.scale(g, v);
        total = hn::MulAdd(hn::Mul(number, hn::Set(d, x_scales[g * Scales::group / 32])), scale, total);
        if constexpr (Scales::mins) total = hn::MulAdd(scales.min(g, v, scale), hn::Set(d, x_sums[g]), total);
      }
      hn::Store(total, d, to);
    }
  }
}

template <BlockType type>
void run_blocks_on_tiles(const GemmTask& t) {
  constexpr int64_t group = form_of(type).group;
  alignas(64) int32_t whole[groups_at_once * 256];
  alignas(64) float sums[16 * panel_width];
  const int64_t depth = t.blocks->depth, all = t.row_end - t.row_begin, blocks = (all + 15) / 16;
  const int64_t height = (all + blocks - 1) / blocks;
  Scratch scratch;
  SpreadPanel<type> panel(depth, scratch);
  const TileSession session(2, static_cast<int>(height), group);
  for (int64_t j = t.column_begin; j < t.column_end; j += panel_width) {
    panel.read(panel_of(*t.blocks, j / panel_width));
    for (int64_t row = t.row_begin; row < t.row_end; row += height) {
      const int64_t rows = HWY_MIN(height, t.row_end - row);
      const BlockX x = rows_from(t, group, row);
      for (int64_t first = 0; first < depth / group; first += groups_at_once) {
        const int64_t groups = HWY_MIN(groups_at_once, depth / group - first);
        multiply_groups({.bytes = group,
                         .a = reinterpret_cast<const std::byte*>(x.words) + first * group,
                         .a_stride = depth,
                         .b = panel.codes() + first * group * panel_width,
                         .groups = groups,
                         .sums = whole});
        add_groups(whole, first, groups, panel.scales(), x, rows, sums);
      }
      finish(t, row, j, rows, HWY_MIN(panel_width, t.column_end - j), sums, panel_width);
    }
  }
}

using BlockTask = void (*)(const GemmTask&);

template <class Small, class Wide, size_t... i>
constexpr auto block_tasks(std::index_sequence<i...>) {
  return std::array<BlockTask, sizeof...(i)>{run_blocks<block_types[i], Small, Wide>...};
}
template <size_t... i>
constexpr auto block_tile_tasks(std::index_sequence<i...>) {
  return std::array<BlockTask, sizeof...(i)>{run_blocks_on_tiles<block_types[i]>...};
}

void run_block_task(const GemmTask& t) {
  constexpr auto all = std::make_index_sequence<std::size(block_types)>();
  const auto type = static_cast<size_t>(*t.blocks->blocks);
  static constexpr auto on_tiles = block_tile_tasks(all);
  if (t.unit == Unit::tiles) return on_tiles[type](t);
#if FOVEA_HAS_DOTS
  static constexpr auto dots = block_tasks<SmallDots, WideCodes<Dots>>(all);
  if (t.unit == Unit::dot_products) return dots[type](t);
#endif
  static constexpr auto tasks = block_tasks<SmallCodes, WideCodes<Int8>>(all);
  tasks[type](t);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
